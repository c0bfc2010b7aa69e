"""Random URDF and USD files beside MuJoCo: `python -m tests.fidelity.random_robots urdf|usd [--solver NAME]`.

Each file has a reference in MJCF that says the same. MuJoCo moves it for 0.1 s, and a solver moves the file. MuJoCo's
solvers take the steps of the reference. Others take two lengths of steps: an error has to be small, or to halve at a
quarter of the length.
"""

from __future__ import annotations

import argparse
import collections
import copy
import importlib
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import mujoco
import numpy as np
import pippin
from pippin.errors import ConfigError, SimulationError
from pippin_fuzz.verdicts import FLOOR, ROUNDING

SECONDS = 0.1

DT, FINE = 0.002, 0.0001
"""Steps [s] of MuJoCo's solvers, and those that resolve the springs of limits, contacts and mimics."""

COARSE_FLOOR = 1e-3
"""Distance [m] or angle that other solvers may be off."""

SHARE = 0.2
"""Part of the effect of springs, which are another law in each solver, that may be missed."""

EXACT = ("mujoco-native", "mujoco")

KEYS: Mapping[str, Mapping[str, Any]] = {"mujoco-native": {"threads": 1}, "steel": {"enable_joint_limits": True}}

_ROUNDED = ("body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "jnt_pos", "jnt_axis")

_AXIAL = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


@attrs.frozen(kw_only=True)
class Found:
    """What a solver makes of a file."""

    word: str
    """`equal`, `told`, `refused`, `burst`, or `SILENT`."""

    error: float = 0.0
    """Largest distance to plain MuJoCo [m, rad]."""

    allowed: float = 0.0
    words: Sequence[str] = ()
    """Notes or faults."""


def places(model: Any, data: Any) -> dict[str, np.ndarray]:
    """Return the place [m] and the rotation matrix of each body, shape [12]."""
    return {model.body(i).name: np.r_[data.xpos[i], data.xmat[i]] for i in range(1, model.nbody)}


def reference(model: Any, dt: float, *, is_rounded: bool = False, has_springs: bool = True) -> dict[str, Any] | None:
    """Return where MuJoCo moves the bodies of a reference; None if it diverges."""
    model = copy.copy(model)
    model.opt.timestep = dt
    for name in _ROUNDED if is_rounded else ():
        values = getattr(model, name)
        values[:] = values.astype(np.float32)
    if not has_springs:
        model.jnt_limited[:] = 0
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_EQUALITY
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    data.ctrl[:] = 1.0
    data.qvel[:] *= 1.0 + 2.0**-22 * is_rounded
    for _ in range(round(SECONDS / dt)):
        mujoco.mj_step(model, data)
    if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number or np.abs(data.qvel).max(initial=0.0) > 100.0:
        return None
    mujoco.mj_kinematics(model, data)
    return places(model, data)


def _apart(first: Mapping[str, Any], second: Mapping[str, Any] | None) -> float:
    names = first.keys() & (second or {}).keys()
    return max((float(np.abs(first[name] - second[name]).max()) for name in names if second), default=0.0)


def _table(file: Any, model: Any, path: Path, solver: str, dt: float) -> dict[str, Any]:
    """Return the configuration: without contacts if the reference has none, and with the start of a URDF."""
    asset: dict[str, Any] = {"path": str(path)}
    has_ground = any(model.geom(geom).name == "ground" for geom in range(model.ngeom))
    scene: dict[str, Any] = {"ground": file.suffix == ".urdf" and has_ground}
    if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT:
        asset["self_collisions"] = False
        scene["filters"] = [{"a": [".*"], "b": [".*"]}]
    if file.suffix == ".urdf":
        scene["gravity"] = model.opt.gravity.tolist()
        asset["joint_positions"] = {
            re.escape(model.joint(joint).name): float(model.key_qpos[0][model.jnt_qposadr[joint]])
            for joint in range(model.njnt)
            if model.jnt_type[joint] in _AXIAL and model.key_qpos[0][model.jnt_qposadr[joint]]
        }
    simulation = {
        "device": "cpu",
        "dt": dt,
        "max_speed": 1e6,
        **({"substeps": 10} if solver == "semi-implicit" else {}),
    }
    return {
        "simulation": simulation,
        "scene": {"assets": [asset], **scene},
        "solver": {"type": solver, **KEYS.get(solver, {})},
    }


def _of(name: str, labels: Sequence[str]) -> int | None:
    found = [index for index, label in enumerate(labels) if label == name or label.endswith(f"/{name}")]
    return found[0] if len(found) == 1 else None


def move(file: Any, model: Any, path: Path, solver: str, dt: float) -> tuple[dict[str, Any], list[str]]:
    """Return where a solver moves the bodies of a file, by the names of the reference, and the notes of the run."""
    with pippin.Simulation(pippin.structure(_table(file, model, path, solver, dt))) as simulation:
        words = [note for notes in simulation.notes.values() for note in notes]
        if file.suffix == ".urdf":
            _start(simulation, model)
        simulation.step(round(SECONDS / dt))
        simulation.raise_errors()
        poses, labels = simulation.state.body_q.numpy(), list(simulation.model.body_label)
    found = {}
    for name in (model.body(index).name for index in range(1, model.nbody)):
        if (index := _of(name, labels)) is not None:
            matrix = np.zeros(9)
            mujoco.mju_quat2Mat(matrix, np.roll(poses[index][3:], 1).astype(float))
            found[name] = np.r_[poses[index][:3], matrix]
    return found, words


def _start(simulation: Any, model: Any) -> None:
    """Give hinges and sliders the speeds of the reference's keyframe, and the efforts of its motors."""
    labels, starts = list(simulation.model.joint_label), simulation.model.joint_qd_start.numpy()
    speeds, efforts = simulation.state.joint_qd.numpy(), simulation.control.joint_f.numpy()
    for joint in range(model.njnt):
        if model.jnt_type[joint] in _AXIAL and (index := _of(model.joint(joint).name, labels)) is not None:
            speeds[starts[index]] = model.key_qvel[0][model.jnt_dofadr[joint]]
            motors = [each for each in range(model.nu) if model.actuator_trnid[each, 0] == joint]
            efforts[starts[index]] = sum(model.actuator_gear[each, 0] for each in motors)
    simulation.state.joint_qd.assign(speeds)
    simulation.invalidate("joints")
    simulation.control.joint_f.assign(efforts)


def judge(file: Any, solver: str, path: Path) -> Found | None:
    """Return what a solver makes of a file; None if nothing in it moves, or its reference diverges."""
    model = mujoco.MjModel.from_xml_string(file.reference)
    dt = DT if solver in EXACT else FINE
    if not model.nv or (true := reference(model, dt)) is None:
        return None
    effect = _apart(true, reference(model, dt, has_springs=False))
    is_fine = solver in EXACT and effect > FLOOR
    if is_fine:
        dt, true = FINE, reference(model, FINE)
    near = reference(model, dt, is_rounded=True)
    if true is None or near is None:
        return None
    path.write_text(file.text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            if solver in EXACT:
                ours, words = move(file, model, path, solver, dt)
                floor = COARSE_FLOOR if is_fine else max(FLOOR, ROUNDING * _apart(true, near))
            else:
                coarse, _ = move(file, model, path, solver, DT)
                ours, words = move(file, model, path, solver, DT / 4)
                floor = max(COARSE_FLOOR, 0.5 * _apart(true, coarse))
        except ConfigError as error:
            return Found(word="refused", words=tuple(map(str, error.faults)))
        except SimulationError as error:
            return Found(word="burst", words=(str(error),))
    words += [str(each.message) for each in warned]
    error, allowed = _apart(true, ours), max(floor, SHARE * effect)
    word = "equal" if error <= allowed else "told" if words else "SILENT"
    return Found(word=word, error=error, allowed=allowed, words=tuple(words))


def main() -> None:
    """Print the files that part, and how many there are of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format", choices=["urdf", "usd"])
    parser.add_argument("--solver", default="mujoco-native")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--without", nargs="*", default=[], help="statements that are left out")
    arguments = parser.parse_args()
    mujoco.set_mju_user_warning(lambda _: None)
    draw, without = importlib.import_module(f"pippin_fuzz.{arguments.format}").draw, frozenset(arguments.without)
    counts = collections.Counter[str]()
    with TemporaryDirectory() as folder:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            file = draw(seed, without)
            found = judge(file, arguments.solver, Path(folder) / f"r{seed}{file.suffix}")
            counts["none" if found is None else found.word] += 1
            if found is not None and found.word != "equal":
                print(
                    f"{seed} {found.word}: {found.error:.2g}, allowed {found.allowed:.2g}; {found.words[:3]}",
                    flush=True,
                )
    print(dict(counts))


if __name__ == "__main__":
    main()
