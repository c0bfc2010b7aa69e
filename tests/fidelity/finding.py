"""Finding about one MJCF file: what differs between MuJoCo's model of it and ours, and how far the motions part."""

from __future__ import annotations

import functools
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import attrs
import mujoco
import newton
import numpy as np
import pippin
from pippin.assets.asset import find_assets
from pippin.assets.fidelity import Difference, compare, compare_sketch
from pippin.assets.fidelity.matching import match_models
from pippin.assets.importing import import_asset
from pippin.assets.mjcf.normal_form import name_elements
from pippin.config.model import AssetConfig, SceneConfig

from .contacts import EXCUSE, PROBES, ContactFinding, compare_contacts, rounded
from .urdf import fill_in, load_urdf

DISTRIBUTIONS = (
    "newton",
    "gymnasium",
    "mujoco",
    "mujoco-warp",
    "brax",
    "dm-control",
    "example-robot-data",
    "gymnasium-robotics",
    "icub-models",
    "metaworld",
    "mjlab",
    "mujoco-mjx",
    "openarm-mujoco",
    "playground",
    "pybullet",
    "robosuite",
)
"""Distributions with MJCF files, those of the group `dev` first; the others are in the group `robots`."""

STEP_COUNT, DT = 250, 0.002
"""Steps of the passive motion, and their length [s]."""

REACH = 1e-6
"""Distance up to which two motions are the same [m]."""

NATIVE = {"type": "mujoco-native", "threads": 1}

_PLACES = ("body_pos", "body_quat", "body_ipos")
_NUMBERS = ("body_inertia", "body_mass", "jnt_range", "dof_damping", "dof_armature")
"""What decides a motion, and is kept in single precision."""

_SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)
"""The first of the two types of joints that have an axis."""

_CONTACT = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)


@attrs.frozen(kw_only=True)
class Finding:
    """What the survey found about one file."""

    name: str
    """The file below the folder of packages: `gymnasium/envs/mujoco/assets/ant.xml`."""

    outcome: str
    """`same`, `differs`, `refused`, or `not counted`: MuJoCo does not load it, or nothing in it can move."""

    reason: str = ""
    """Why it was refused or not counted."""

    differences: Sequence[Difference] = ()
    """All differences, those by design too."""

    distance: float | None = None
    """Distance between the two motions after half a second, RMS over the bodies [m]; None if they have other joints."""

    rounding: float = 0.0
    """The same between MuJoCo's model and itself with its numbers rounded otherwise [m]; 0 if it was not needed."""

    contacts: ContactFinding | None = None
    """What differs between the contacts at random poses; None if nothing touched, or a joint has no counterpart."""

    seconds: float = 0.0
    """Time that the file took [s]."""

    @property
    def is_moved_alike(self) -> bool:
        """Whether the motions are the same, as far as rounding does not part them."""
        return self.distance is None or self.distance <= max(REACH, EXCUSE * self.rounding)

    @property
    def faults(self) -> list[Difference]:
        """The differences that are not by design."""
        return [difference for difference in self.differences if not difference.is_by_design]


def files(distributions: Sequence[str] = DISTRIBUTIONS) -> dict[str, Path]:
    """Return the MJCF files of the distributions that are installed, by name."""
    found = {}
    for distribution in distributions:
        try:
            listed = metadata.files(distribution) or ()
        except metadata.PackageNotFoundError:
            continue
        for file in sorted(listed):
            path = Path(str(file.locate()))
            if is_robot(path):
                found[re.sub(r"^(\.\./)+|^cmeel\.prefix/share/", "", file.as_posix())] = path.resolve()
    return found


def is_robot(path: Path) -> bool:
    """Return if a file is MJCF or URDF by its content; of PyBullet's 1000 random objects, the first 20 count."""
    if path.suffix == ".urdf":
        return b"<robot" in path.read_bytes() and not re.search("random_urdfs/(?!0[01])", str(path))
    return path.suffix in (".xml", ".mjcf") and b"<mujoco" in path.read_bytes()


def small_files(distributions: Sequence[str], size: int) -> dict[str, Path]:
    """Return the MJCF files of distributions that are smaller than a size [bytes] and read no other file."""
    return {
        name: path
        for name, path in files(distributions).items()
        if path.stat().st_size < size and not re.search(rb"<(include|mesh|hfield|flexcomp|plugin)\b", path.read_bytes())
    }


def load(path: Path) -> Any:
    """Return MuJoCo's model of a file.

    Raises:
        ValueError: MuJoCo cannot read it, or nothing in it can move.
    """
    if path.suffix == ".urdf":
        theirs = load_urdf(path)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the file's author may use what a later MuJoCo will not read
            spec = mujoco.MjSpec.from_file(str(path))
            name_elements(spec)
            theirs = spec.compile()
    if not theirs.nv:
        raise ValueError("nothing in it can move")
    return theirs


def survey(name: str, path: Path) -> Finding:
    """Return what the comparison of one file finds."""
    mujoco.set_mju_user_warning(lambda _: None)  # MuJoCo would write a log file into the current folder
    try:
        return _survey(name, path)
    finally:
        mujoco.set_mju_user_warning(None)


def _survey(name: str, path: Path) -> Finding:
    start = time.perf_counter()
    finding = functools.partial(Finding, name=name)
    try:
        theirs = load(path)
    except ValueError as error:
        return finding(outcome="not counted", reason=one_line(error))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            simulation = build(path, theirs)
    except Exception as error:
        return finding(outcome="refused", reason=one_line(error), seconds=time.perf_counter() - start)
    ours: Any = simulation.solver
    match = match_models(theirs, ours.mj_model)
    if path.suffix == ".urdf":
        fill_in(match)
    differences = compare(theirs, ours.mj_model)
    if path.suffix == ".urdf":  # each joint has a drive whose gains are zero
        differences = [each for each in differences if not (each.kind == "actuator" and each.field == "exists")]
        # The volume of a mesh gives a mass where a file states none, and masses are compared.
        differences = [each for each in differences if each.field != "volume of the mesh"]
    contacts = compare_contacts(match)  # before the motion, which turns contacts off
    moved, rounding = distance(theirs, simulation)
    outcome = "same" if all(difference.is_by_design for difference in differences) else "differs"
    seconds = time.perf_counter() - start
    return finding(
        outcome=outcome, differences=differences, distance=moved, rounding=rounding, contacts=contacts, seconds=seconds
    )


def build(
    path: Path, theirs: Any, solver: Mapping[str, Any] = NATIVE, worlds: int = 1, steps: int = STEP_COUNT
) -> pippin.Simulation:
    """Return the simulation of a file, with the gravity that the file states."""
    is_off = theirs.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    gravity = [0.0, 0.0, 0.0] if is_off else theirs.opt.gravity.tolist()
    asset = {"path": str(path), "self_collisions": True}  # those of links that overlap in the start pose, too
    tables = {
        "simulation": {"device": "cpu", "dt": DT, "decimation": steps},
        "scene": {"gravity": gravity, "worlds": worlds, "assets": [asset]},
        "solver": dict(solver),
    }
    return pippin.Simulation(pippin.structure(tables))


def sketched(path: Path) -> list[Difference]:
    """Return the differences in tree and shapes of a file, as other solvers than MuJoCo's get it.

    Compensation of gravity and the medium are left out: Newton keeps them for MuJoCo alone.
    """
    [asset] = find_assets(SceneConfig(assets=[AssetConfig(path=str(path))]).assets)
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        normal = import_asset(builder, asset)
    assert normal is not None, "MuJoCo read the file"
    found = [each for each in compare_sketch(normal.model, builder) if not each.is_by_design]
    return [each for each in found if each.kind != "option" and each.field != "gravcomp"]


def distance(theirs: Any, simulation: pippin.Simulation) -> tuple[float | None, float]:
    """Return the distance between MuJoCo's motion of its model and ours after half a second, RMS over bodies [m].

    Every hinge and slide starts with a random speed (standard deviation 1 rad/s or 1 m/s), all other joints at rest.
    No actuator gets a control. Contacts are off: they amplify rounding. None if a joint has no counterpart, or MuJoCo
    itself diverges. The second number is the largest distance of a model of MuJoCo that is rounded otherwise; 0 if the
    first one is small.
    """
    solver: Any = simulation.solver
    ours = solver.mj_model
    match = match_models(theirs, ours)
    pairs = list(match.joints.items())
    if len(pairs) != theirs.njnt or any(theirs.jnt_type[i] != ours.jnt_type[j] for i, j in pairs):
        return None, 0.0
    axes = [(theirs.jnt_dofadr[i], ours.jnt_dofadr[j]) for i, j in pairs if theirs.jnt_type[i] >= _SLIDE]
    speeds = np.random.default_rng(0).normal(size=len(axes)).astype(np.float32)
    start = mujoco.MjData(theirs).qpos.copy()
    if simulation.config.scene.assets[0].path.endswith(".urdf"):  # it states no start, and ours is within the limits
        angles = _angles(simulation)
        start[[theirs.jnt_qposadr[i] for i, _ in pairs if theirs.jnt_type[i] >= _SLIDE]] = angles[[j for _, j in axes]]
    dofs, integrator, rng = [dof for dof, _ in axes], int(ours.opt.integrator), np.random.default_rng(1)
    moved = _move(theirs, start, dofs, speeds, integrator)
    if moved is None:
        return None, 0.0
    data = _step(simulation, [dof for _, dof in axes], speeds)
    pairs = np.array(list(match.bodies.items()))
    found = _apart(moved[pairs[:, 0]], data.xpos[pairs[:, 1]])
    if found <= REACH:
        return found, 0.0
    others = []
    for _ in range(PROBES):
        near = start + 1e-7 * np.maximum(np.abs(start), 1.0) * rng.uniform(-1.0, 1.0, start.shape)
        others.append(_move(rounded(theirs, rng, _PLACES, _NUMBERS), near, dofs, speeds, integrator))
    return found, max((_apart(moved[1:], each[1:]) for each in others if each is not None), default=0.0)


def _apart(these: np.ndarray, others: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum(np.square(these - others), axis=1))))


def _move(
    theirs: Any, start: np.ndarray, dofs: Sequence[int], speeds: np.ndarray, integrator: int
) -> np.ndarray | None:
    """Return the positions of the bodies of MuJoCo's model after the motion [m]; None if it diverges."""
    theirs.opt.timestep, theirs.opt.integrator = DT, integrator
    theirs.opt.disableflags |= _CONTACT
    data = mujoco.MjData(theirs)
    data.qpos[:] = start
    data.qvel[dofs] = speeds
    for _ in range(STEP_COUNT):
        mujoco.mj_step(theirs, data)
    mujoco.mj_kinematics(theirs, data)
    return None if data.warning.number.any() else data.xpos.copy()


def _angles(simulation: pippin.Simulation) -> np.ndarray:
    """Return the positions of the axes of our model at the start, at the places of MuJoCo's DOFs [m or rad]."""
    model: Any = simulation.model
    firsts, starts = model.joint_qd_start.numpy(), model.joint_q_start.numpy()
    dof_of = simulation.solver._converted.mjc_dof_to_newton_dof.numpy()[0]
    joint = np.searchsorted(firsts, dof_of, side="right") - 1
    return simulation.state.joint_q.numpy()[starts[joint] + dof_of - firsts[joint]]


def _step(simulation: pippin.Simulation, dofs: Sequence[int], speeds: np.ndarray) -> Any:
    """Return MuJoCo's data of our model after the motion."""
    solver: Any = simulation.solver
    solver.batch.expand("opt.disableflags")[:] |= _CONTACT
    dof_of = solver._converted.mjc_dof_to_newton_dof.numpy()[0]
    velocities = np.zeros(simulation.model.joint_dof_count, dtype=np.float32)
    velocities[dof_of[dofs]] = speeds
    simulation.state.joint_qd.assign(velocities)
    simulation.invalidate("joints")
    simulation.step()
    data = mujoco.MjData(solver.mj_model)
    data.qpos[:] = solver.batch.bind("qpos")[0]
    mujoco.mj_kinematics(solver.mj_model, data)
    return data


def one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:400]
