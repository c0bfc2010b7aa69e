"""Solvers with wrong physics: Featherstone, of which one number is wrong around each step.

A mutant is an array and what is done to it: sign, scale, world, copy, frame, kind of joint. It is no mutant if it moves
nothing in a rich scene. `python -m tests.mutants.physics [NAME ...]` prints what the kit lets pass.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import inspect
import itertools
import json
import pathlib
import random
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import attrs
import newton
import numpy as np
import pippin
from pippin.solving import FEATURES
from pippin_conformance import Conformance
from pippin_conformance.plugin_under_test import PluginUnderTest

Rows = np.ndarray
"""Rows of one array in all worlds, shape [world_count, rows, ...]."""

DOFS = {"joint_armature", "joint_axis", "joint_damping", "joint_f", "joint_limit_ke", "joint_limit_kd", "joint_qd"}
DOFS |= {"joint_limit_lower", "joint_limit_upper", "joint_target_ke", "joint_target_kd", "joint_target_qd"}
DOFS |= {"joint_effort_limit", "joint_velocity_limit", "joint_target_q", "joint_stiffness", "joint_friction"}


def worlds_of(model: newton.Model, name: str) -> np.ndarray:
    """Return the world of each row of an array; -1 for none."""
    if name in DOFS:
        counts = np.diff(np.append(model.joint_qd_start.numpy()[: model.joint_count], model.joint_dof_count))
        return np.repeat(model.joint_world.numpy(), counts)
    if name == "joint_q":
        counts = np.diff(np.append(model.joint_q_start.numpy()[: model.joint_count], model.joint_coord_count))
        return np.repeat(model.joint_world.numpy(), counts)
    if name == "gravity":
        return np.arange(len(model.gravity.numpy())) % (model.world_count + 1) - 0
    return getattr(model, f"{name.partition('_')[0]}_world").numpy()


def joints_of_rows(model: newton.Model, name: str) -> np.ndarray:
    """Return the joint of each row of an array of bodies, joints or DOFs."""
    if name in DOFS:
        counts = np.diff(np.append(model.joint_qd_start.numpy()[: model.joint_count], model.joint_dof_count))
        return np.repeat(np.arange(model.joint_count), counts)
    if name.startswith("body"):
        found = np.full(model.body_count, -1)
        found[model.joint_child.numpy()] = np.arange(model.joint_count)
        return found
    return np.arange(model.joint_count)


def _turn(values: Rows) -> Rows:
    """Set the rotation of transforms to the identity."""
    values = values.copy()
    values[..., 3:] = 0.0, 0.0, 0.0, 1.0
    return values


def _swap(values: Rows) -> Rows:
    """Exchange the first two components."""
    values = values.copy()
    values[..., [0, 1]] = values[..., [1, 0]]
    return values


def _inverse(values: Rows) -> Rows:
    values = values.copy()
    values[..., 3:6] *= -1.0
    return values


def _moved(values: Rows) -> Rows:
    values = values.copy()
    values[..., :3] = 0.0
    return values


def _diagonal(values: Rows) -> Rows:
    return values * np.eye(3)


HOW: Mapping[str, Callable[[Rows], Rows]] = {
    "lost": np.zeros_like,
    "negative": np.negative,
    "0.7 times": lambda values: 0.7 * values,
    "1.3 times": lambda values: 1.3 * values,
    "swapped": _swap,
    "unturned": _turn,
    "turned back": _inverse,
    "not moved": _moved,
    "diagonal": _diagonal,
    "z alone": lambda values: values * np.array([0.0, 0.0, 1.0]),
    "one more": lambda values: values + 1.0,
}
"""What is done to numbers."""

WHERE: Mapping[str, Callable[[newton.Model, str, np.ndarray], np.ndarray]] = {
    "": lambda model, name, worlds: worlds >= -1,
    "world 3": lambda model, name, worlds: worlds == 3,
    "last world": lambda model, name, worlds: worlds == model.world_count - 1,
    "children": lambda model, name, worlds: model.joint_parent.numpy()[joints_of_rows(model, name)] >= 0,
    "roots": lambda model, name, worlds: model.joint_parent.numpy()[joints_of_rows(model, name)] < 0,
    **{
        kind: (
            lambda model, name, worlds, kind=kind: (
                model.joint_type.numpy()[joints_of_rows(model, name)] == int(newton.JointType[kind.upper()])
            )
        )
        for kind in ("ball", "free", "prismatic", "revolute", "d6", "fixed")
    },
}
"""The rows to which it is done."""

MODEL: Mapping[str, str] = {
    "joint_X_p": "unturned, turned back, not moved, 0.7 times",
    "joint_X_c": "unturned, turned back, not moved",
    "joint_axis": "negative, swapped",
    "body_com": "lost, negative, 0.7 times",
    "body_inertia": "0.7 times, 1.3 times, diagonal",
    "body_mass": "0.7 times, 1.3 times",
    "gravity": "z alone, 0.7 times, swapped",
    "joint_armature": "lost, 0.7 times, 1.3 times",
    "joint_damping": "lost, 0.7 times, negative",
    "joint_target_ke": "lost, 0.7 times, 1.3 times",
    "joint_target_kd": "lost, 0.7 times, 1.3 times",
    "joint_limit_lower": "0.7 times",
    "joint_limit_upper": "0.7 times",
    "joint_limit_ke": "lost, 0.7 times",
    "shape_material_mu": "lost, 0.7 times, 1.3 times",
    "shape_material_ke": "0.7 times",
    "shape_transform": "not moved, unturned",
}
CONTROL: Mapping[str, str] = {
    "joint_f": "lost, negative, 0.7 times",
    "joint_target_q": "lost, 0.7 times",
    "joint_target_qd": "lost, 0.7 times",
}
STATE: Mapping[str, str] = {"body_f": "lost, negative, 0.7 times, swapped", "joint_qd": "0.7 times"}
KINDS = "children roots ball free prismatic revolute d6"
"""Where numbers of bodies, joints and DOFs can be wrong, beside everywhere."""


@attrs.frozen(kw_only=True)
class Mutant:
    """A wrong solver."""

    name: str
    owner: str
    """Whose array is wrong: `model`, `control` or `state`; or a kind of mutant that has a function of its own."""

    array: str = ""
    change: Callable[[newton.Model, np.ndarray, dict[str, Any]], np.ndarray] | None = None
    """Returns the numbers in the step, from the model, the true numbers and a memory."""

    step: Callable[..., None] | None = None
    """Takes the step, from the true step and its arguments."""


def _changed(how: str, where: str, name: str) -> Callable[..., np.ndarray]:
    def change(model: newton.Model, values: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
        rows = WHERE[where](model, name, worlds_of(model, name))
        mask = rows.reshape(-1, *[1] * (values.ndim - 1))
        return np.where(mask, HOW[how](values), values)

    return change


def _of_world(worlds: Callable[[np.ndarray], np.ndarray], name: str) -> Callable[..., np.ndarray]:
    """Return a change that gives each world the numbers of another one."""

    def change(model: newton.Model, values: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
        owner, found = worlds_of(model, name), values.copy()
        rows = [np.flatnonzero(owner == world) for world in range(model.world_count)]
        if len({len(each) for each in rows}) > 1:
            return values
        for world, other in enumerate(worlds(np.arange(model.world_count))):
            found[rows[world]] = values[rows[other]]
        return found

    return change


def _baked(model: newton.Model, values: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
    return memory.setdefault("first", values.copy())


def _late(model: newton.Model, values: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
    last = memory.get("last", values.copy())
    memory["last"] = values.copy()
    return last


def _arrays() -> Iterator[Mutant]:
    for owner, table in (("model", MODEL), ("control", CONTROL), ("state", STATE)):
        for array, words in table.items():
            is_of_joints = array.split("_")[0] in ("joint", "body")
            places = ["", "world 3", "last world", *(KINDS.split() if is_of_joints else [])]
            for how, where in itertools.product(words.split(", "), places):
                if array == "gravity" and where in ("children", "roots"):
                    continue
                name = " ".join(filter(None, (array, how, where and f"({where})")))
                yield Mutant(name=name, owner=owner, array=array, change=_changed(how, where, array))
            yield Mutant(name=f"{array} of world 0", owner=owner, array=array, change=_of_world(lambda w: 0 * w, array))
            yield Mutant(
                name=f"{array} of the world before",
                owner=owner,
                array=array,
                change=_of_world(lambda w: np.maximum(w - 1, 0), array),
            )
            if owner == "model":
                yield Mutant(name=f"{array} copied at the first step", owner=owner, array=array, change=_baked)
            else:
                yield Mutant(name=f"{array} a step late", owner=owner, array=array, change=_late)


def _steps() -> Iterator[Mutant]:
    def of(name: str, step: Callable[..., None]) -> Mutant:
        return Mutant(name=name, owner="step", step=step)

    def other_dt(factor: Callable[[float], float]) -> Callable[..., None]:
        return lambda true, before, after, control, contacts, dt: true(before, after, control, contacts, factor(dt))

    yield of("dt is 2 ms", other_dt(lambda dt: 0.002))
    yield of("dt is 0.7 times", other_dt(lambda dt: 0.7 * dt))
    yield of("dt of at most 2 ms", other_dt(lambda dt: min(dt, 0.002)))
    yield of("dt of at least 2 ms", other_dt(lambda dt: max(dt, 0.002)))

    def after_with(change: Callable[[Any, np.ndarray, float], None], array: str) -> Callable[..., None]:
        def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
            true(before, after, control, contacts, dt)
            change(true.__self__.model, getattr(after, array).numpy(), dt)
            newton.eval_fk(true.__self__.model, after.joint_q, after.joint_qd, after)

        return step

    def damp(rate: float, where: str) -> Callable[[Any, np.ndarray, float], None]:
        def change(model: Any, values: np.ndarray, dt: float) -> None:
            rows = WHERE[where](model, "joint_qd", worlds_of(model, "joint_qd"))
            values[rows] *= 1.0 - rate * dt

        return change

    for where in ("", "world 3", "children", "ball", "free", "prismatic", "revolute", "d6"):
        for rate in (3.0, -3.0):
            word = "damped" if rate > 0 else "driven"
            yield of(f"velocities {word} ({where})", after_with(damp(rate, where), "joint_qd"))

    def leak(source: int, target: int) -> Callable[[Any, np.ndarray, float], None]:
        def change(model: Any, values: np.ndarray, dt: float) -> None:
            owner = worlds_of(model, "joint_qd")
            first, second = (np.flatnonzero(owner == world) for world in (source, target))
            if len(first) == len(second):
                values[second] += 0.05 * (values[first] - values[second])

        return change

    for source, target in ((0, 1), (1, 0), (2, 3), (3, 4), (4, 3), (0, 4)):
        yield of(f"leak of world {source} into {target}", after_with(leak(source, target), "joint_qd"))

    def sleep(model: Any, values: np.ndarray, dt: float) -> None:
        values[np.abs(values) < 0.02] = 0.0

    def fast(model: Any, values: np.ndarray, dt: float) -> None:
        np.clip(values, -3.0, 3.0, out=values)

    yield of("slow is still", after_with(sleep, "joint_qd"))
    yield of("at most 3 a second", after_with(fast, "joint_qd"))

    def without(kind: newton.GeoType, *, is_partner: bool = False) -> Callable[..., None]:
        def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
            if contacts is not None and contacts.rigid_contact_max:
                types, firsts = true.__self__.model.shape_type.numpy(), contacts.rigid_contact_shape0.numpy()
                seconds = contacts.rigid_contact_shape1.numpy()
                gone = (firsts >= 0) & ((types[firsts] == int(kind)) | (types[seconds] == int(kind)))
                keep = firsts[gone].copy()
                firsts[gone] = -1
                saved = seconds[gone].copy()
                seconds[gone] = -1
                true(before, after, control, contacts, dt)
                firsts[gone], seconds[gone] = keep, saved
                return
            true(before, after, control, contacts, dt)

        return step

    for kind in ("SPHERE", "CAPSULE", "BOX", "CYLINDER", "ELLIPSOID", "CONE", "MESH", "CONVEX_MESH", "PLANE"):
        yield of(f"contacts of {kind.lower()} lost", without(newton.GeoType[kind]))

    def contact_with(array: str, change: Callable[[np.ndarray], None]) -> Callable[..., None]:
        def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
            if contacts is None or not contacts.rigid_contact_max:
                return true(before, after, control, contacts, dt)
            values = getattr(contacts, array).numpy()
            kept = values.copy()
            change(values)
            true(before, after, control, contacts, dt)
            values[...] = kept
            return None

        return step

    def shift(values: np.ndarray) -> None:
        values += 0.01

    def tilt(values: np.ndarray) -> None:
        values[:] += 0.15 * np.roll(values, 1, axis=1)
        values /= np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-9)

    for array in ("rigid_contact_point0", "rigid_contact_point1"):
        yield of(f"{array} is 1 cm off", contact_with(array, shift))
    yield of("normals lean", contact_with("rigid_contact_normal", tilt))


FAILING: Mapping[str, Collection[str]] = {"xpbd": ("allocation", "capture", "feature_tetrahedra", "observable*")}
"""Checks that a true solver fails, or one that takes no captured steps as a mutant does."""


def mutants() -> dict[str, Mutant]:
    """Return all mutants by name, also those that do not act."""
    return {mutant.name: mutant for mutant in (*_arrays(), *_steps())}


class Wrong:
    """A solver whose steps are a mutant's; anything else is the true one's."""

    def __init__(self, true: Any, mutant: Mutant) -> None:
        self._true, self._mutant, self._memory = true, mutant, {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._true, name)

    def step(self, state_in: Any, state_out: Any, control: Any, contacts: Any, dt: float, **options: Any) -> None:
        """Take a step with wrong numbers, which are the true ones again afterwards."""
        mutant, model = self._mutant, self._true.model
        if mutant.step is not None:
            mutant.step(self._true.step, state_in, state_out, control, contacts, dt)
            return
        owner = {"model": model, "control": model.control() if control is None else control, "state": state_in}
        array = getattr(owner[mutant.owner], mutant.array)
        if array is None or not array.size:
            self._true.step(state_in, state_out, control, contacts, dt, **options)
            return
        values = array.numpy()
        kept = values.copy()
        values[...] = mutant.change(model, kept, self._memory)
        self._true.step(state_in, state_out, owner["control"], contacts, dt, **options)
        values[...] = kept


@contextlib.contextmanager
def mutated(mutant: Mutant | None, solver: str = "featherstone") -> Iterator[None]:
    """Let the solver be the mutant in the `with` block; None leaves it as it is."""
    plugin = PluginUnderTest(kind="solver", name=solver).plugin
    true = plugin.build_solver
    saved = {name: plugin.__dict__.get(name) for name in ("is_capturable", "eager_reason")}

    @pippin.hookimpl
    def build_solver(self: Any, model: newton.Model, dt: float) -> Any:
        takes_dt = "dt" in inspect.signature(true).parameters
        built = true(self, model, dt) if takes_dt else true(self, model)
        return built if mutant is None else _subclassed(built, mutant)

    plugin.build_solver, plugin.is_capturable = build_solver, False
    plugin.eager_reason = "it is mutated"
    try:
        yield
    finally:
        plugin.build_solver = true
        for name, value in saved.items():
            if value is None:
                delattr(plugin, name)
            else:
                setattr(plugin, name, value)


def _subclassed(built: Any, mutant: Mutant) -> Any:
    wrong = Wrong(built, mutant)
    true_step = type(built).step

    class Mutated(type(built)):
        def step(self, *arguments: Any, **options: Any) -> None:
            wrong.step(*arguments, **options)

    wrong._true = _True(built, true_step)
    built.__class__ = Mutated
    return built


class _True:
    """The true solver, whose `step` is not the mutant's."""

    def __init__(self, built: Any, step: Any) -> None:
        self._built, self._step = built, step

    def __getattr__(self, name: str) -> Any:
        return getattr(self._built, name)

    @property
    def step(self) -> Any:
        return self._step.__get__(self._built)


def witness(mutant: Mutant | None, solver: str = "featherstone") -> np.ndarray:
    """Return poses and velocities of a rich scene of five worlds at its end."""
    lacking = sorted(FEATURES.keys() - PluginUnderTest(kind="solver", name=solver).features.keys())
    tables = {"simulation": {"accept_unsupported": lacking}}
    subject = PluginUnderTest(kind="solver", name=solver, tables=tables)
    with mutated(mutant, solver), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with subject.build(count=1, scene=rich, world_count=5, capture="off") as simulation:
            model = simulation.model
            model.gravity.assign(model.gravity.numpy() * np.linspace(0.8, 1.2, len(model.gravity.numpy()))[:, None])
            simulation.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
            rng = np.random.default_rng(0)
            for index in range(60):
                if index == 20:
                    for name in MODEL:
                        array = getattr(model, name)
                        if name.startswith(("joint_target_k", "joint_damping", "joint_armature", "body_mass")):
                            array.assign(
                                array.numpy() * rng.uniform(0.5, 1.5, (len(array.numpy()),)).astype(np.float32)
                            )
                    flags = newton.ModelFlags.JOINT_DOF_PROPERTIES | newton.ModelFlags.BODY_INERTIAL_PROPERTIES
                    simulation.notify_model_changed(flags)
                simulation.control.joint_f.assign(rng.normal(size=model.joint_dof_count).astype(np.float32) * 0.5)
                simulation.state.body_f.assign(rng.normal(size=(model.body_count, 6)).astype(np.float32) * 0.5)
                simulation.step(1)
            return np.hstack([simulation.state.body_q.numpy(), simulation.state.body_qd.numpy()])


def rich(builder: newton.ModelBuilder) -> None:
    """Add trees of all joints, and a shape of each kind that slides on the ground."""
    import warp as wp

    rng = np.random.default_rng(3)

    def turn() -> Any:
        return wp.normalize(wp.quat(*rng.normal(size=4)))

    def link(name: str) -> int:
        moments = np.diag(rng.uniform(0.01, 0.03, 3)) + 0.003
        body = builder.add_link(label=name, mass=rng.uniform(0.5, 1.5), inertia=wp.mat33(*moments.ravel()))
        builder.body_com[body] = wp.vec3(*rng.normal(size=3) * 0.1)
        return body

    for tree in range(3):
        parent, joints = -1, []
        for kind in ("revolute", "ball", "prismatic", "d6", "revolute") if tree else ("free", "revolute", "ball"):
            body = link(f"{tree}{kind}{len(joints)}")
            frames = {
                "parent_xform": wp.transform(wp.vec3(*rng.normal(size=3) * 0.2 + [0, 0, 5 * (parent < 0)]), turn()),
                "child_xform": wp.transform(wp.vec3(*rng.normal(size=3) * 0.1), turn()),
            }
            axis = wp.normalize(wp.vec3(*rng.normal(size=3)))
            config = newton.ModelBuilder.JointDofConfig
            numbers = {
                "target_ke": 5.0,
                "target_kd": 0.3,
                "armature": 0.02,
                "limit_lower": -0.2,
                "limit_upper": 0.25,
                "limit_ke": 50.0,
                "limit_kd": 0.1,
                "target_pos": 0.3,
                "target_vel": 0.2,
                "damping": 0.1,
            }
            if kind == "free":
                joints.append(builder.add_joint_free(body, parent=parent, **frames))
            elif kind == "ball":
                joints.append(builder.add_joint_ball(parent, body, **frames))
            elif kind == "d6":
                across = wp.normalize(wp.cross(axis, wp.vec3(0.0, 1.0, 0.0)))  # as XPBD asks
                rows = [config(axis=axis, **numbers)], [config(axis=across, **numbers)]
                joints.append(builder.add_joint_d6(parent, body, linear_axes=rows[0], angular_axes=rows[1], **frames))
            else:
                add = getattr(builder, f"add_joint_{kind}")
                joints.append(add(parent, body, axis=axis, **numbers, **frames))
            parent = body
        builder.add_articulation(joints, label=f"tree{tree}")
    builder.joint_qd[:] = rng.normal(size=len(builder.joint_qd)).tolist()
    cfg = newton.ModelBuilder.ShapeConfig(density=0.0, mu=0.4, gap=0.01)
    mesh = newton.Mesh.create_box(0.1, 0.1, 0.1)
    for index, (name, options) in enumerate(
        {
            "sphere": {"radius": 0.1},
            "capsule": {"radius": 0.1, "half_height": 0.1},
            "cylinder": {"radius": 0.1, "half_height": 0.1},
            "box": {"hx": 0.1, "hy": 0.1, "hz": 0.1},
            "ellipsoid": {"rx": 0.1, "ry": 0.1, "rz": 0.1},
            "cone": {"radius": 0.1, "half_height": 0.1},
            "mesh": {"mesh": mesh},
            "convex_hull": {"mesh": mesh},
        }.items()
    ):
        body = link(name)
        builder.body_q[body] = wp.transform(wp.vec3(2.0 + index, 0.3, 0.099), wp.quat_identity())
        builder.add_articulation([builder.add_joint_free(body)], label=name)
        builder.joint_qd[-6:] = [0.5, 0.3, 0.0, 0.1, 0.2, 0.3]
        place = wp.transform(wp.vec3(0.0, 0.0, 0.0), wp.quat_identity())
        getattr(builder, f"add_shape_{name}")(body, xform=place, cfg=cfg, **options)


def acts(mutant: Mutant, true: np.ndarray, solver: str = "featherstone") -> bool:
    """Tell whether a mutant moves the rich scene otherwise by a millimetre or a hundredth of a radian a second."""
    try:
        found = witness(mutant, solver)
    except Exception:
        return True  # it bursts
    return not np.allclose(found, true, rtol=1e-2, atol=1e-3)


def let_pass(
    mutant: Mutant, *patterns: str, without: Collection[str] = (), solver: str = "featherstone", **keys: Any
) -> str:
    """Return the check that finds a mutant; empty if the kit lets it pass.

    Args:
        mutant: The wrong solver.
        patterns: Names of the checks to try; none means all, the cheap ones first.
        without: Patterns of checks to leave out.
        solver: The solver that is made wrong.
        keys: More of the kit's settings.
    """
    with mutated(mutant, solver), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kit = Conformance("solver", solver, **keys)
        try:
            for pattern in patterns or ("tree_*", "isolation", "relation_*", "*"):
                for name in fnmatch.filter(kit.checks, pattern):
                    if not any(fnmatch.fnmatch(name, each) for each in without) and kit.run(name).outcome == "failed":
                        return name
        finally:
            kit._runs.close()
    return ""


def main() -> None:
    """Print each mutant with the check that finds it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--sample", type=int, help="a number of mutants drawn from all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solver", default="featherstone")
    parser.add_argument("--results", type=pathlib.Path, help="a file of JSON lines, of which a run goes on")
    arguments = parser.parse_args()
    all_of_them, solver = mutants(), arguments.solver
    names = arguments.names or list(all_of_them)
    if arguments.sample:
        names = random.Random(arguments.seed).sample(names, arguments.sample)
    results = {}
    if arguments.results and arguments.results.exists():
        results = dict(map(json.loads, arguments.results.read_text().splitlines()))
    true, without = witness(None, solver), FAILING.get(solver, ())
    same = Mutant(name="true", owner="step", step=lambda true, *rest: true(*rest))
    assert not (odd := let_pass(same, solver=solver, without=without)), odd
    for name in (each for each in names if each not in results):
        begun = time.perf_counter()
        mutant = all_of_them[name]
        found = let_pass(mutant, solver=solver, without=without) if acts(mutant, true, solver) else "does not act"
        results[name] = found or "PASSES"
        print(f"{name}: {results[name]} ({time.perf_counter() - begun:.1f} s)", flush=True)
        if arguments.results:
            with arguments.results.open("a") as file:
                file.write(json.dumps([name, results[name]]) + "\n")
    acting = [name for name in names if results[name] != "does not act"]
    passed = [name for name in acting if results[name] == "PASSES"]
    print(f"{len(passed)} of {len(acting)} pass:", *passed, sep="\n  ")


if __name__ == "__main__":
    main()
