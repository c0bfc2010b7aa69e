"""Drawn trees of joints with skew axes, turned frames and centres of mass off the joints, beside their motion in double
precision: at a step, at its half and at its quarter.

First all worlds are alike. Then each has its own gravity, efforts and targets. A solver passes if what is left of the
error at a quarter of the step is no more than a few times what the first halving takes away, so that one that damps and
converges passes, and one that converges to another motion does not.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import ConfigError, Simulation
from pippin.arrays import on_host, present
from pippin.quaternions import conjugate, product

from .observation import model_and_state, step
from .plugin_under_test import PluginUnderTest
from .reference import Tree

WORLDS = 5
"""Worlds of the trees."""

PARTS = (0.04, 0.06)
"""Times in which all worlds are alike, and in which they differ [s]."""

SHARE = 5.0
"""Largest error at a quarter of the step, in units of what halving the step changes; a first-order method has 0.5."""

MOST = 0.2
"""Largest error, in units of the largest way or change of velocity in the tree."""

FLOORS = (2e-4, 5e-4, 1e-2, 2e-2)
"""Errors of place [m], turn [rad], velocity [m/s] and spin [rad/s] that single precision may make."""

HALVED, LOOPED, AT_REST = " of halves", " in a loop", " at rest"
"""Forms of a tree."""

Units = tuple[float, float, float]
"""Units of numbers of trees [m, kg, s]."""

_PRECISE, _PRECISE_AT_LIMITS = 0.01, 1e-3
"""Steps of the reference [s], whose errors are of fourth order where no limit begins to push."""


@attrs.frozen
class Kinds:
    """A tree by its joints, each on the one before, and by the numbers of their DOFs."""

    joints: tuple[str, ...]
    features: tuple[str, ...] = ()
    """What a solver needs beside the joints."""

    numbers: Mapping[str, float] = attrs.field(factory=dict)


TREES: Mapping[str, Kinds] = {
    name: Kinds(tuple(row["joints"]), tuple(row.get("features", ())), row.get("numbers", {}))
    for name, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
"""The trees, by what they have."""


@attrs.frozen(kw_only=True)
class Error:
    """The worst body of a tree at a quarter of the step."""

    share: float = 0.0
    """Its error in units of what is allowed; infinite if worlds part that are alike."""

    text: str = ""
    """What is wrong, where, and by how much."""

    refusal: str = ""
    """The error by which the solver refuses the tree, although it claims its joints."""


def trees_for(features: Collection[str]) -> dict[str, Kinds]:
    """Return the trees that a solver with some features moves."""
    return {
        name: tree
        for name, tree in TREES.items()
        if {*tree.features, *(f"{kind}_joints" for kind in tree.joints)} <= set(features)
    }


def add_trees(
    names: Collection[str], builder: newton.ModelBuilder, units: Units = (1.0, 1.0, 1.0), form: str = ""
) -> None:
    """Add trees to a builder, all about the origin: they have no shapes. Each name draws its own numbers, which are in
    some units. `HALVED`, each body but a free one is two halves, and the second carries the next body. `LOOPED`, the
    one body of a tree is two halves, of which the second is free and tied by a loop; it begins `AT_REST`.
    """
    length, weight, _ = units
    seam: Any = wp.transform(length * wp.vec3(0.1, -0.05, 0.08), wp.quat(*_SEAM))
    none: Any = wp.transform_identity()
    frames: Any = builder.joint_X_p
    inner: Any = builder.joint_X_c
    for name in names:
        rng = np.random.default_rng(list(name.encode()))
        parent, joints, frame = -1, [], none
        for number, kind in enumerate(TREES[name].joints):
            turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            moments = weight * length**2 * turn @ np.diag(rng.uniform(0.015, 0.025, 3)) @ turn.T
            mass, label = weight * rng.uniform(0.5, 1.5), f"{name}{form}/{number} {kind}"
            body = builder.add_link(label=label, mass=mass, inertia=wp.mat33(*moments.ravel()))
            builder.body_com[body] = wp.vec3(*(length * rng.uniform(-0.15, 0.15, 3)))
            joints.append(_add_joint(builder, kind, parent, body, rng, TREES[name].numbers, units))
            frames[-1] = wp.transform_inverse(frame) * frames[-1]
            parent, frame = body, none
            if form in (AT_REST, LOOPED):
                first = builder.joint_qd_start[joints[-1]]
                builder.joint_qd[first:] = [0.0] * (builder.joint_dof_count - first)
            if form == LOOPED:
                parent = _halve(builder, body, seam, 0.04 * length)
                joints.append(builder.add_joint_free(parent))
                builder.joint_q[-7:] = [*(frames[-2] * wp.transform_inverse(inner[-2]) * seam)]
            elif form == HALVED and kind != "free":
                parent, frame = _halve(builder, body, seam, 0.04 * length), seam
                joints.append(builder.add_joint_fixed(body, parent, parent_xform=seam))
        builder.add_articulation(joints, label=name)
        if form == LOOPED:
            builder.add_joint_fixed(parent - 1, parent, parent_xform=seam)


_SEAM = (0.5, -0.1, 0.7, 0.5)
"""Rotation between two halves, a quaternion xyzw."""


def _halve(builder: newton.ModelBuilder, body: int, seam: Any, apart: float) -> int:
    """Let a body be the half of one, add a link with the other half at a pose in it, and return the link.

    Each half has its centre of mass on one side of that of both, at a distance along y [m].
    """
    half, arm = 0.5 * builder.body_mass[body], np.array([0.0, apart, 0.0])
    moments = 0.5 * np.array(builder.body_inertia[body]).reshape(3, 3) - half * apart**2 * np.diag([1.0, 0.0, 1.0])
    turn = np.array(wp.quat_to_matrix(wp.transform_get_rotation(seam))).reshape(3, 3)
    com, back = np.array(builder.body_com[body]), wp.transform_inverse(seam)
    end: Any = wp.vec3(*(com + arm))
    other: Any = wp.transform_point(back, end)
    builder.body_mass[body], builder.body_inv_mass[body] = half, 1.0 / half
    builder.body_inertia[body] = wp.mat33(*moments.ravel())
    builder.body_inv_inertia[body] = wp.mat33(*np.linalg.inv(moments).ravel())
    builder.body_com[body] = wp.vec3(*(com - arm))
    return builder.add_link(
        label=f"{builder.body_label[body]}, other half",
        mass=half,
        inertia=wp.mat33(*(turn.T @ moments @ turn).ravel()),
        com=other,
    )


def _add_joint(
    builder: newton.ModelBuilder,
    kind: str,
    parent: int,
    body: int,
    rng: np.random.Generator,
    numbers: Mapping[str, Any],
    units: Units,
) -> int:
    first, (length, _, time) = builder.joint_dof_count, units
    if kind == "free":
        joint = builder.add_joint_free(body, child_xform=_pose(rng, 0.1 * length))
    else:
        frames = {"parent_xform": _pose(rng, 0.25 * length), "child_xform": _pose(rng, 0.1 * length)}
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        own: Any = {"armature": 0.0, "actuator_mode": newton.JointTargetMode.POSITION_VELOCITY, **numbers}
        if kind in ("revolute", "prismatic"):
            frames |= {"axis": wp.vec3(*axes[0]), **own}
        elif kind == "d6":
            slide, turn = (newton.ModelBuilder.JointDofConfig(axis=wp.vec3(*axis), **own) for axis in axes[:2])
            frames |= {"linear_axes": [slide], "angular_axes": [turn]}
        joint = getattr(builder, f"add_joint_{kind}")(parent, body, **frames)
    speeds = rng.uniform(-1.5, 1.5, len(builder.joint_qd) - first) / time
    speeds[: {"free": 3, "prismatic": 1, "d6": 1}.get(kind, 0)] *= length
    builder.joint_qd[first:] = speeds.tolist()
    return joint


def _pose(rng: np.random.Generator, size: float) -> Any:
    quaternion = rng.normal(size=4)
    return wp.transform(wp.vec3(*rng.uniform(-size, size, 3)), wp.quat(*quaternion / np.linalg.norm(quaternion)))


def errors_of_trees(subject: PluginUnderTest, names: Sequence[str] | None = None) -> dict[str, Error | Exception]:
    """Return the worst error of each tree that the solver claims to move, or the exception raised.

    All trees move in one simulation. If this fails, they are split into two simulations, and so on.
    """
    if names is None:
        names = [name for name in trees_for(subject.features or ()) if subject.asks("tree", name)]
    features, found = subject.features or {}, []
    true: dict[str, Any] = {}
    try:
        for factor in (1.0, 0.5, 0.25) if names else ():
            scene = functools.partial(add_trees, names)
            finer = attrs.evolve(subject, dt=subject.dt * factor)
            with finer.build(count=1, scene=scene, world_count=WORLDS, is_on_ground=False) as simulation:
                model = simulation.model
                true = true or _truth(model, stated_numbers(model), names, features)
                found.append(_run(simulation, names, features))
    except Exception as error:  # a plugin may raise anything
        if len(names) == 1:
            return {names[0]: Error(refusal=str(error)) if isinstance(error, ConfigError) else error}
        middle = len(names) // 2
        return errors_of_trees(subject, names[:middle]) | errors_of_trees(subject, names[middle:])
    return {name: _worst(name, true[name], [each[name] for each in found]) for name in names}


_NUMBERS = {
    "joint_armature": "armature",
    "joint_damping": "joint_damping",
    "joint_target_ke": "joint_drives",
    "joint_target_kd": "joint_drives",
    "joint_friction": "joint_friction",
    "body_mass": "rigid_bodies",
}
"""Arrays whose numbers change with the second part, if the solver takes over a change of this feature."""


def drawn_inputs(model: newton.Model, stated: Any, part: int, features: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Return the inputs of a part, the same for all worlds in the first one.

    Args:
        model: Newton's model.
        stated: Arrays as they were at the start.
        part: Number of the part.
        features: What changes while the solver runs is `"live"`.
    """
    rng = np.random.default_rng(part)
    gravity = np.tile([0.0, 0.0, -9.81], (WORLDS, 1))

    def drawn(count: int, low: float, high: float) -> np.ndarray:
        rows = rng.uniform(low, high, (WORLDS if part else 1, count // WORLDS))
        return np.broadcast_to(rows, (WORLDS, count // WORLDS)).astype(np.float32).ravel()

    if part and features.get("gravity") == "live":
        gravity = gravity + rng.uniform(-4.0, 4.0, (WORLDS, 3))
    numbers = {
        name: values * drawn(len(values), 0.6, 1.6) if part and features.get(_NUMBERS[name]) == "live" else values
        for name, values in stated.items()
    }
    return {
        **numbers,
        "joint_f": drawn(model.joint_dof_count, -0.3, 0.3),
        "body_f": drawn(6 * model.body_count, -0.3, 0.3).reshape(-1, 6),
        "joint_target_q": drawn(model.joint_coord_count, -0.5, 0.5),
        "joint_target_qd": drawn(model.joint_dof_count, -0.5, 0.5),
        "gravity": gravity.astype(np.float32),
    }


def stated_numbers(model: newton.Model) -> dict[str, np.ndarray]:
    """Return copies of the numbers of bodies and joints that `change` multiplies."""
    return {name: on_host(getattr(model, name)).copy() for name in _NUMBERS}


def change(simulation: Simulation, inputs: Mapping[str, np.ndarray], features: Mapping[str, str]) -> None:
    """Change gravity and the numbers of joints and bodies, and tell the solver."""
    model, flags = simulation.model, newton.ModelFlags
    changed = [name for name, feature in _NUMBERS.items() if features.get(feature) == "live"]
    for name in changed:
        getattr(model, name).assign(inputs[name])
        if name == "body_mass":
            present(model.body_inv_mass).assign(1.0 / inputs[name])
    of_joints = flags.JOINT_DOF_PROPERTIES if any("joint" in name for name in changed) else 0
    of_bodies = flags.BODY_INERTIAL_PROPERTIES if "body_mass" in changed else 0
    of_model = 0
    if features.get("gravity") == "live":
        rows = on_host(model.gravity).copy()
        rows[:WORLDS] = inputs["gravity"]
        present(model.gravity).assign(rows)
        of_model = flags.MODEL_PROPERTIES
    if of_joints | of_bodies | of_model:
        simulation.notify_model_changed(of_joints | of_bodies | of_model)


def _run(simulation: Simulation, names: Collection[str], features: Mapping[str, str]) -> dict[str, Any]:
    """Return the poses and velocities of each tree at the end, and those at the end of the first part."""
    model, state = model_and_state(simulation)
    seen = []
    stated = stated_numbers(model)
    for part, time in enumerate(PARTS):
        inputs = drawn_inputs(model, stated, part, features)
        if part:
            change(simulation, inputs, features)
        for name in ("joint_target_q", "joint_target_qd", "joint_f"):
            getattr(simulation.control, name).assign(inputs[name])
        for _ in range(round(time / simulation.dt)):
            state.body_f.assign(inputs["body_f"])
            step(simulation, 1)
        seen.append([on_host(array).astype(float) for array in (state.body_q, state.body_qd)])
    owners = np.array([label.partition("/")[0] for label in model.body_label])
    return {
        name: [[rows[owners == name].reshape(WORLDS, -1, rows.shape[1]) for rows in part] for part in seen]
        for name in names
    }


def _truth(model: newton.Model, stated: Any, names: Collection[str], features: Mapping[str, str]) -> dict[str, Any]:
    """Return the poses and velocities of each tree at the start and after each part, of a solver without errors."""
    found = {}
    for index, name in enumerate(names):
        tree, length = Tree(model, index), _PRECISE_AT_LIMITS if "limit_ke" in TREES[name].numbers else _PRECISE
        state: Any = on_host(model.joint_q).astype(float), on_host(model.joint_qd).astype(float)
        seen = [tree.places(*state)]
        for part, time in enumerate(PARTS):
            state = tree.run(state, drawn_inputs(model, stated, part, features), time, length)
            seen.append(tree.places(*state))
        found[name] = seen
    return found


def _worst(name: str, ends: Any, found: list[Any]) -> Error:
    start, _, true = ends
    for alike, _ in found:
        parted = [world for world in range(WORLDS) if any((rows[world] != rows[0]).any() for rows in alike)]
        if parted:
            return Error(share=np.inf, text=f"{name}: world {parted[0]} and world 0 begin alike, and part")
    runs = [end for _, end in found]
    share, text = worst_share(name, distances(runs[2], true), allowance(runs[:2], start, true))
    text += " at a quarter of the step, a few times what half the step changes"
    return Error(share=share, text=f"{text}{_when(name, ends, found) if share > 1.0 else ''}")


def worst_share(name: str, errors: Sequence[np.ndarray], allowed: np.ndarray) -> tuple[float, str]:
    """Return the largest error of a tree in units of what is allowed, and what is wrong, where and by how much."""
    found = np.array(errors)
    shares = np.nan_to_num(found / allowed[:, None, None], nan=np.inf)
    kind, world, body = np.unravel_index(shares.argmax(), shares.shape)
    what, unit = (("place", "m"), ("turn", "rad"), ("velocity", "m/s"), ("spin", "rad/s"))[kind]
    label = f"{body} {TREES[name].joints[body]}"
    return float(shares.max()), (
        f"{name}: the {what} of body {label!r} in world {world} is {found[kind, world, body]:.2g} {unit} off, and"
        f" {allowed[kind]:.2g} {unit} may be left"
    )


def allowance(runs: Sequence[Any], start: Any, end: Any) -> np.ndarray:
    """Return how far bodies may be off, of each kind: a few times what half the step changes of a way."""
    changes, ways = (largest(distances(*pair)) for pair in (runs, (start, end)))
    return np.maximum(np.minimum(SHARE * changes, MOST * ways), FLOORS)


def _when(name: str, ends: Any, found: list[Any]) -> str:
    """Say that a tree is wrong from the start on, or only after the change."""
    runs = [middle for middle, _ in found]
    if worst_share(name, distances(runs[2], ends[1]), allowance(runs[:2], *ends[:2]))[0] > 1.0:
        return ""
    return (
        f"; as built, it is right until {PARTS[0]} s, and wrong after the change of gravity, forces, targets, numbers"
        " of joints and bodies, each world its own: read anew what is copied at the build or in the first step"
    )


def largest(found: Sequence[np.ndarray]) -> np.ndarray:
    """Return the largest distance of each kind."""
    return np.array([each.max() for each in found])


def distances(first: Any, second: Any) -> list[np.ndarray]:
    """Return how far bodies are apart, by place, turn, velocity and spin, each of shape [worlds, bodies]."""
    (poses, speeds), (others, other_speeds) = first, second
    turn = product(conjugate(others[..., 3:]), poses[..., 3:])
    turns = 2.0 * np.sign(turn[..., 3:]) * turn[..., :3]  # of small angles
    parts = poses[..., :3] - others[..., :3], turns, (speeds - other_speeds)[..., :3], (speeds - other_speeds)[..., 3:]
    return [np.linalg.norm(part, axis=-1) for part in parts]
