"""Motions of a file: by plain MuJoCo, and by a solver."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import mujoco
import numpy as np
import pippin
from pippin.config import overridden

from .files import RandomFile

WEIGHT = 0.02
"""Time by which a difference of velocities counts as one of positions [s]."""

_ROUNDED = ("body_pos", "body_quat", "body_ipos", "body_iquat", "jnt_pos", "jnt_axis", "site_pos", "geom_pos")

_FASTEST = 100.0
"""Velocity above which a motion of MuJoCo has burst [m/s, rad/s]."""

Places = Mapping[str, np.ndarray]
"""Position [m] of the origin, rotation matrix and, times `WEIGHT`, velocities of each body by name, shape [18]."""


@attrs.frozen(kw_only=True)
class MovedFile:
    """Places to which a solver moves the bodies of a file."""

    places: Places | None = None
    """None if it refuses the file, or the run ends with an error."""

    words: tuple[str, ...] = ()
    """Notes of the run, or the faults."""

    has_burst: bool = False
    """Whether it ends with an error, and no note says that it diverges."""


def plain_motion(
    model: mujoco.MjModel, seconds: float, *, division: int = 1, is_rounded: bool = False, has_springs: bool = True
) -> Places | None:
    """Return where plain MuJoCo moves the bodies of a model; None if it diverges.

    Args:
        model: The model, which starts at its keyframe.
        seconds: Length of the motion [s].
        division: Number of steps for each step of the file. With several, the steps are of the fourth order.
        is_rounded: Whether the numbers of the model have single precision.
        has_springs: Whether limits, contacts and equalities act.
    """
    model = copy.copy(model)
    steps = round(seconds / model.opt.timestep) * division
    for name in _ROUNDED if is_rounded else ():
        getattr(model, name)[:] = getattr(model, name).astype(np.float32)
    if division > 1:
        model.opt.timestep, model.opt.integrator = model.opt.timestep / division, mujoco.mjtIntegrator.mjINT_RK4
    if not has_springs:
        flags = mujoco.mjtDisableBit
        model.opt.disableflags |= flags.mjDSBL_LIMIT | flags.mjDSBL_CONTACT | flags.mjDSBL_EQUALITY
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qvel[:] *= 1.0 + 2.0**-22 * is_rounded
    for _ in range(steps):
        mujoco.mj_step(model, data)
    if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number or np.abs(data.qvel).max() > _FASTEST:
        return None
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    return {model.body(i).name: _place(model, data, i) for i in range(1, model.nbody)}


def _place(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> np.ndarray:
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 0)
    return np.r_[data.xpos[body], data.xmat[body], WEIGHT * np.roll(velocity, 3)]


def tables(path: str, model: mujoco.MjModel, solver: str, division: int = 1) -> dict[str, Any]:
    """Return the configuration that moves a file as MuJoCo moves its reference.

    Args:
        path: The file.
        model: MuJoCo's model of the reference.
        solver: Name of the solver.
        division: Number of steps for each step of the reference.
    """
    asset: dict[str, Any] = {"path": path}
    scene: dict[str, Any] = {"ground": False}
    if path.endswith(".xml"):
        asset["keyframe"] = "k"
    elif model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT:
        asset["self_collisions"] = False
        scene["filters"] = [{"a": [".*"], "b": [".*"]}]
    if path.endswith(".urdf"):  # which states neither a ground nor a start
        scene["ground"] = any(model.geom(geom).name == "ground" for geom in range(model.ngeom))
        scene["gravity"] = model.opt.gravity.tolist()
        starts = {model.joint(i).name: float(model.key_qpos[0][model.jnt_qposadr[i]]) for i in _axes(model)}
        asset["joint_positions"] = {re.escape(name): start for name, start in starts.items() if start}
    return {
        "simulation": {"device": "cpu", "dt": float(model.opt.timestep) / division, "max_speed": 1e6},
        "scene": {**scene, "assets": [asset]},
        "solver": {"type": solver},
    }


def motion(
    file: RandomFile,
    model: mujoco.MjModel,
    seconds: float,
    solver: str,
    folder: Path,
    *,
    division: int = 1,
    overrides: tuple[str, ...] = (),
) -> MovedFile:
    """Return where a solver moves the bodies of a file.

    Args:
        file: The file.
        model: MuJoCo's model of its reference, whose keyframe is the start.
        seconds: Length of the motion [s].
        solver: Name of the solver.
        folder: Where the file is written.
        division: Number of steps for each step of the reference.
        overrides: Keys of the configuration, each `KEY=VALUE`.
    """
    path = folder / f"robot{file.suffix}"
    path.write_text(file.text, encoding="utf-8")
    words = list[str]()
    with warnings.catch_warnings(record=True, action="always") as warned:
        try:
            config = pippin.structure(overridden(tables(str(path), model, solver, division), overrides))
            with pippin.Simulation(config) as simulation:
                words = [note for notes in simulation.notes.values() for note in notes]
                if file.suffix == ".urdf":
                    _start(simulation, model)
                simulation.step(round(seconds / model.opt.timestep) * division)
                simulation.raise_errors()
                places = _places(simulation, model, file.unit)
        except pippin.PippinError as error:
            has_burst = not isinstance(error, pippin.ConfigError) and not any("diverge" in word for word in words)
            faults = (str(each).replace(f"{folder}/", "") for each in getattr(error, "faults", (error,)))
            return MovedFile(words=tuple(faults), has_burst=has_burst)
    words += [str(each.message) for each in warned]
    return MovedFile(places=places, words=tuple(dict.fromkeys(word.replace(f"{folder}/", "") for word in words)))


def _places(simulation: Any, model: mujoco.MjModel, unit: float) -> Places:
    poses, velocities = simulation.state.body_q.numpy(), simulation.state.body_qd.numpy()
    places, labels, coms = {}, simulation.model.body_label, simulation.model.body_com.numpy()
    for body in range(1, model.nbody):
        name = model.body(body).name
        if (own := _index(name, labels)) is not None:
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, np.roll(poses[own][3:], 1).astype(float))
            arm = turn.reshape(3, 3) @ coms[own]  # a merged body has another centre of mass
            at_origin = velocities[own][:3] - np.cross(velocities[own][3:], arm)
            places[name] = np.r_[poses[own][:3] / unit, turn, WEIGHT * at_origin / unit, WEIGHT * velocities[own][3:]]
        elif model.body_dofnum[body]:  # a welded one may be merged
            places[name] = np.full(18, np.nan)
    return places


def _index(name: str, labels: Sequence[str]) -> int | None:
    """Return the place of the only label that ends with a name, which may have slashes; None if there is none."""
    found = [index for index, label in enumerate(labels) if label == name or label.endswith(f"/{name}")]
    return found[0] if len(found) == 1 else None


def _axes(model: mujoco.MjModel) -> list[int]:
    """Return the hinges and sliders of a model."""
    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    return [joint for joint in range(model.njnt) if model.jnt_type[joint] in kinds]


def _start(simulation: Any, model: mujoco.MjModel) -> None:
    """Give hinges and sliders the velocities of MuJoCo's keyframe, and the efforts of its motors."""
    labels, starts = simulation.model.joint_label, simulation.model.joint_qd_start.numpy()
    qd, efforts = simulation.state.joint_qd.numpy(), simulation.control.joint_f.numpy()
    for joint in _axes(model):
        if (own := _index(model.joint(joint).name, labels)) is not None:
            qd[starts[own]] = model.key_qvel[0][model.jnt_dofadr[joint]]
            motors = model.actuator_trnid[:, 0] == joint
            efforts[starts[own]] = model.actuator_gear[motors, 0] @ model.key_ctrl[0][motors]
    simulation.state.joint_qd.assign(qd)
    simulation.invalidate("joints")
    simulation.control.joint_f.assign(efforts)
