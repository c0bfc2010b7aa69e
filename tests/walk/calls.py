"""Calls of a random walk: what is asked of which worlds, how it reads back, and when it has no effect for a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import newton
import numpy as np
from pippin.state.world_rows import arrays_of, worlds_of
from pippin.views.errors import ViewError
from pippin.views.quantities import ARTICULATION, RIGID_BODY

ARTICULATIONS, BODIES = ("robot", "arm", "ball", "all"), ("bodies", "body")

SETTERS = [(view, name) for view in ARTICULATIONS for name, each in ARTICULATION.items() if each.is_settable]
SETTERS += [(view, name) for view in BODIES for name, each in RIGID_BODY.items() if each.is_settable]
"""Every view with the quantities that it can set."""

ATTRIBUTES = (
    *("joint_damping", "joint_stiffness", "joint_rest_q", "joint_limit_ke", "joint_limit_kd", "joint_X_p"),
    *("joint_X_c", "shape_material_mu", "shape_material_ke", "shape_material_kd", "shape_material_restitution"),
    *("shape_transform", "body_mass", "joint_f", "nothing"),
)
"""Names for `set_attribute`."""

RANGES: Mapping[str, tuple[float, float]] = {
    "dof_velocities": (-1.0, 1.0),
    "dof_position_targets": (-0.3, 0.3),
    "dof_velocity_targets": (-1.0, 1.0),
    "dof_forces": (-2.0, 2.0),
    "dof_stiffnesses": (1.0, 50.0),
    "dof_dampings": (0.1, 5.0),
    "dof_max_forces": (0.1, 20.0),
    "dof_max_velocities": (0.5, 5.0),
    "dof_armatures": (0.05, 1.0),
    "dof_frictions": (0.05, 2.0),
    "root_velocities": (-1.0, 1.0),
    "velocities": (-1.0, 1.0),
    "masses": (0.5, 2.0),
    "joint_damping": (0.1, 2.0),
    "joint_stiffness": (1.0, 20.0),
    "joint_rest_q": (-0.3, 0.3),
    "joint_limit_ke": (10.0, 1e4),
    "joint_limit_kd": (0.1, 10.0),
    "shape_material_mu": (0.1, 0.9),
    "shape_material_ke": (1e3, 1e4),
    "shape_material_kd": (10.0, 100.0),
    "shape_material_restitution": (0.1, 0.9),
}
"""Bounds of random values."""

LARGER_FRICTION = frozenset({"mujoco", "mujoco-native"})
"""Solvers that take the larger friction of two shapes, so that a smaller one has no effect."""

FAULTS = ("none", "nan", "shape", "row", "mask", "both", "text")
"""Faults of a call; `none` is a call that should be accepted, or refused with a reason."""


@attrs.frozen(kw_only=True, eq=False)
class Call:
    """One call."""

    name: str
    """The call with its arguments, for a person who reads that it was silent."""

    act: Callable[[], Any]
    """Makes the call."""

    worlds: frozenset[int] = frozenset()
    """The worlds whose motion the call asks to change."""

    rewritten: frozenset[int] = frozenset()
    """Worlds whose present values were written again: a state may be rounded anew."""

    names: Sequence[str] = ()
    """Words that an error has to contain: the call."""

    is_wrong: bool = False
    """Whether the call has to be refused."""

    null: Callable[[], Any] | None = None
    """The same call with the present values, or None: an effect of the values is one that this call has not."""

    check: Callable[[], str] = str
    """Returns what does not read back right after the call; empty if nothing."""

    later: Callable[[], str] = str
    """Likewise after some steps."""

    none: Callable[[int], str] = lambda _: ""
    """Returns the documented reason why a world may move as without the call, empty if there is none."""

    undo: Callable[[], Any] = lambda: None
    """Puts back what the walk itself wrote into an array, after the call was refused."""


@attrs.frozen(eq=False)
class Rows:
    """Chosen rows of a view, as arguments of a call."""

    chosen: np.ndarray
    arguments: Mapping[str, Any]


def rows_of(count: int, rng: np.random.Generator, fault: str = "none") -> Rows:
    """Return random rows, in one of the forms that a view takes."""
    chosen = np.flatnonzero(rng.random(count) < 0.5)
    mask = np.isin(np.arange(count), chosen)
    if fault == "row":
        return Rows(chosen, {"indices": [*chosen.tolist(), count + int(rng.integers(3))]})
    if fault == "mask":
        return Rows(chosen, {"mask": np.append(mask, True)})
    if fault == "both":
        return Rows(chosen, {"indices": chosen, "mask": mask})
    form = rng.integers(5)
    if form == 0:
        return Rows(np.arange(count), {})
    if form == 1:
        return Rows(chosen, {"mask": mask})
    if form == 2:
        return Rows(chosen, {"indices": mask})
    return Rows(chosen, {"indices": chosen.astype(np.int32), "compact": bool(form == 4)})


def wrong(data: np.ndarray, fault: str, rng: np.random.Generator) -> Any:
    """Return data with a fault."""
    if fault == "nan" and data.dtype.kind == "f":
        data = data.copy()
        data[...] = np.nan
    if fault in ("shape", "nan") and data.dtype.kind != "f":
        return np.zeros((*data.shape, 2), dtype=data.dtype)
    if fault == "shape":
        return np.zeros((*data.shape, 3), dtype=data.dtype)
    return "three" if fault == "text" else data


def draw(name: str, present: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return new values of a quantity or an attribute, in the shape of the present ones."""
    if name in RANGES:
        return rng.uniform(*RANGES[name], present.shape).astype(present.dtype)
    new = present.copy()
    if name in ("dof_positions", "joint_coords"):
        new += rng.uniform(-0.1, 0.1, present.shape).astype(np.float32)
    elif name == "dof_limits":
        new[..., 0], new[..., 1] = (sign * rng.uniform(0.05, 0.5, present.shape[:-1]) for sign in (-1, 1))
    elif name in ("root_transforms", "transforms", "joint_X_p", "joint_X_c", "shape_transform"):
        new[..., :3] += rng.uniform(-0.05, 0.05, new[..., :3].shape)
        new[..., 3:] += rng.uniform(-0.1, 0.1, new[..., 3:].shape)
        new[..., 3:] /= np.linalg.norm(new[..., 3:], axis=-1, keepdims=True)
    elif name == "coms":
        new[..., :3] = rng.uniform(-0.05, 0.05, new[..., :3].shape)
    elif name == "inertias":
        new[...] = 0.0
        new[..., [0, 4, 8]] = rng.uniform(0.02, 0.04, (*new.shape[:-1], 3))
    elif name == "disable_gravities":
        new[...] = rng.integers(0, 2, present.shape)
    return new


class Calls:
    """Makes random calls on a bed.

    Args:
        bed: The simulation with its views.
    """

    def __init__(self, bed: Any) -> None:
        self.bed = bed

    @property
    def kinds(self) -> list[str]:
        """Names of the methods that make a call."""
        rigid = ["setter"] * 6 + ["attribute"] * 2
        rigid += ["forces", "group", "targets", "switch", "written", "sensor"]
        return [*(rigid if self.bed.has_bodies else []), "gravity", "changed", "reset", "callback", "save"]

    def setter(self, rng: np.random.Generator, fault: str) -> Call:
        """Set a quantity of a view."""
        key, name = SETTERS[rng.integers(len(SETTERS))]
        view = self.bed.views[key]
        quantity = view.quantities[name]
        read, write = getattr(view, f"get_{name}"), getattr(view, f"set_{name}")
        rows = rows_of(view.count, rng, fault)
        if quantity.name == "disable_gravities" and "gravity_compensation" not in (
            self.bed.features or "gravity_compensation"
        ):
            return Call(name=f"{key}.set_{name}", act=lambda: write(0), names=[f"set_{name}"], is_wrong=True)
        present = read().numpy().copy()
        is_same = fault == "none" and rng.random() < 0.1
        new = present.copy() if is_same else draw(name, present, rng)
        used = self._used(view, quantity.element, present)
        new = np.where(used, new, 0).astype(present.dtype)
        take = rows.chosen if rows.arguments.get("compact") else slice(None)
        expected = present.copy()
        expected[rows.chosen] = new[rows.chosen]
        data = wrong(new[take], fault, rng)
        changed = (expected != present).reshape(view.count, -1).any(axis=1)
        worlds = frozenset(view.world_ids[np.flatnonzero(changed)].tolist())
        is_state = quantity.source == "state"
        return Call(
            name=f"{key}.set_{name}({rows.arguments}, fault={fault}, same={is_same})",
            act=lambda: write(data, **rows.arguments),
            null=None if quantity.source != "model" else lambda: write(present[take], **rows.arguments),
            worlds=worlds,
            rewritten=frozenset(view.world_ids[rows.chosen].tolist())
            if is_state or quantity.inverse or quantity.invalidates
            else frozenset(),
            names=[f"set_{name}"],
            is_wrong=fault != "none" and not (fault == "nan" and not used[rows.chosen].any()),
            check=lambda: _unlike(name, read().numpy(), expected, used),
            later=lambda: "" if is_state else _unlike(name, read().numpy(), expected, used),
            none=self._reason(view, name, present, expected, is_state),
        )

    @staticmethod
    def _used(view: Any, element: str, values: np.ndarray) -> np.ndarray:
        masks = {"dof": "dof_mask", "link": "link_mask"}
        if element in masks:
            mask = getattr(view, masks[element])
        elif element == "coordinate":
            mask = view.coord_indices >= 0
        else:
            mask = np.ones(view.count, dtype=bool)
        return np.broadcast_to(mask.reshape(mask.shape + (1,) * (values.ndim - mask.ndim)), values.shape)

    def _reason(
        self, view: Any, name: str, present: np.ndarray, expected: np.ndarray, is_state: bool
    ) -> Callable[[int], str]:
        """Return the function from a world to the documented reason for no effect, from readings before the call."""
        if is_state:
            return lambda _: "the state was as asked for" if name.endswith(("transforms", "velocities")) else ""
        changed = (present != expected) & self._used(view, view.quantities[name].element, present)
        if "dof" not in name or not hasattr(view, "dof_mask"):
            floats = name == "disable_gravities"
            gravity = self.bed.simulation.view.gravity if floats else None
            return lambda world: "no gravity" if floats and not gravity[world].any() else ""
        read = {each: getattr(view, f"get_{each}")().numpy().copy() for each in _OF_DRIVES}
        driven = self._driven(view)
        kp, kd = (
            np.where(driven, gain, read[each])
            for gain, each in zip(self._gains(), ("dof_stiffnesses", "dof_dampings"), strict=True)
        )
        error = read["dof_position_targets"] - read["dof_positions"]
        drag = read["dof_velocity_targets"] - read["dof_velocities"]
        position = read["dof_positions"]
        with np.errstate(all="ignore"):
            idle = {
                "dof_position_targets": (kp == 0, "no stiffness"),
                "dof_velocity_targets": (kd == 0, "no damping"),
                "dof_stiffnesses": (error == 0, "at the target"),
                "dof_dampings": (drag == 0, "at the target's velocity"),
            }
        if name in ("dof_max_forces", "dof_max_velocities"):
            before, least = self._extent(view, name), np.minimum(present, expected)

            def reaches_none(world: int) -> str:
                is_below = 1.05 * np.maximum(before, self._extent(view, name)) < least
                return "within the limit" if (is_below | ~changed)[view.world_ids == world].all() else ""

            return reaches_none
        if name == "dof_limits":
            changed = changed.any(axis=-1)
            within = self._within(view, position, present, expected)
            return lambda world: "within the limits" if (within() | ~changed)[view.world_ids == world].all() else ""
        is_idle, text = idle.get(name, (np.zeros(position.shape, dtype=bool), ""))

        def reason(world: int) -> str:
            rows = view.world_ids == world
            return text if (is_idle | ~changed)[rows].all() else ""

        return reason

    @staticmethod
    def _extent(view: Any, name: str) -> np.ndarray:
        """Return the efforts of the model's drives [N, N·m], or the speeds of the joints [m/s, rad/s]."""
        read = {each: getattr(view, f"get_{each}")().numpy().copy() for each in _OF_DRIVES}
        if name == "dof_max_velocities":
            return np.abs(read["dof_velocities"])
        pull = read["dof_stiffnesses"] * (read["dof_position_targets"] - read["dof_positions"])
        return np.abs(pull) + np.abs(read["dof_dampings"] * (read["dof_velocity_targets"] - read["dof_velocities"]))

    @staticmethod
    def _within(view: Any, before: np.ndarray, *limits: np.ndarray) -> Callable[[], np.ndarray]:
        """Return a function that tells which DOFs were within all limits, before the call and after some steps."""

        def found() -> np.ndarray:
            both = (before, view.get_dof_positions().numpy())
            return np.all([(q > each[..., 0]) & (q < each[..., 1]) for q in both for each in limits], axis=0)

        return found

    def _driven(self, view: Any) -> np.ndarray:
        group = self.bed.group.actuated_dofs.numpy()
        return np.isin(view.dof_indices, group)

    def _gains(self) -> tuple[float, float]:
        if any(self.bed.group is each for each in self.bed.simulation._built.disabled.all):
            return 0.0, 0.0
        return self.bed.group.get("kp").numpy().min(), self.bed.group.get("kd").numpy().min()

    def attribute(self, rng: np.random.Generator, fault: str) -> Call:
        """Set an array by its name."""
        key = [*ARTICULATIONS, *BODIES][rng.integers(6)]
        name = ATTRIBUTES[rng.integers(len(ATTRIBUTES))]
        view, rows = self.bed.views[key], None
        rows = rows_of(view.count, rng, fault)
        try:
            present = np.asarray(view.get_attribute(name).numpy()).copy()
        except ViewError as error:  # such as a view of bodies, which have no DOFs
            present, fault = np.zeros((view.count, 1), dtype=np.float32), f"none at all: {error}"
        new = draw(name, present, rng)
        take = rows.chosen if rows.arguments.get("compact") else slice(None)
        expected = present.copy()
        expected[rows.chosen] = new[rows.chosen]
        data = wrong(new[take], fault, rng)
        is_wrong = name in ("body_mass", "joint_f", "nothing") or fault != "none"
        used = self._used_by_name(view, name, present)
        changed = ((expected != present) & used).reshape(view.count, -1).any(axis=1)
        return Call(
            name=f"{key}.set_attribute({name}, {rows.arguments}, fault={fault})",
            act=lambda: view.set_attribute(name, data, **rows.arguments),
            null=lambda: view.set_attribute(name, present[take], **rows.arguments),
            worlds=frozenset(view.world_ids[np.flatnonzero(changed)].tolist()),
            names=["set_attribute", name],
            is_wrong=is_wrong and not (fault == "nan" and not used[rows.chosen].any()),
            check=lambda: _unlike(name, view.get_attribute(name).numpy(), expected, used),
            later=lambda: _unlike(name, view.get_attribute(name).numpy(), expected, used),
            none=self._reason_by_name(view, name, present, expected),
        )

    def _used_by_name(self, view: Any, name: str, values: np.ndarray) -> np.ndarray:
        """Return where an attribute has an element; padding is 0, and a pose that is all 0 is padding."""
        used = np.ones(values.shape, dtype=bool)
        for mask in ("dof_mask", "coord_indices"):
            padded = np.asarray(getattr(view, mask, used))
            if name.startswith("joint_") and padded.shape == values.shape and name not in ("joint_X_p", "joint_X_c"):
                used = padded > 0 if mask == "dof_mask" else used & (padded >= 0)
        if name.startswith("shape_material"):
            used = values != 0
        if name in ("joint_X_p", "joint_X_c", "shape_transform"):
            used = np.broadcast_to(np.any(values[..., 3:] != 0, axis=-1, keepdims=True), values.shape)
        return np.broadcast_to(used, values.shape)

    def _reason_by_name(self, view: Any, name: str, present: np.ndarray, expected: np.ndarray) -> Callable[[int], str]:
        if name == "joint_rest_q":
            return lambda _: "no stiffness" if not view.get_attribute("joint_stiffness").numpy().any() else ""
        if name.startswith("joint_limit_") and hasattr(view, "dof_mask"):
            limits, position = view.get_dof_limits().numpy().copy(), view.get_dof_positions().numpy().copy()
            within, changed = self._within(view, position, limits), (present != expected) & view.dof_mask
            return lambda world: "within the limits" if (within() | ~changed)[view.world_ids == world].all() else ""
        if name.startswith("shape_"):
            touch, sinking = (
                self._no_touch(name == "shape_material_mu"),
                self.bed.views["body"].get_velocities().numpy(),
            )
            is_still = (np.abs(sinking[:, 2]) < 0.05) & (name == "shape_material_kd")
            return lambda world: touch(world) or ("the ball does not sink" if is_still[world] else "")
        return lambda _: ""

    def _no_touch(self, is_friction: bool) -> Callable[[int], str]:
        """Return the reason of a ball that is off the ground, or rolls on it."""
        ball = self.bed.views["body"]
        heights, speeds = ball.get_transforms().numpy()[:, 2].copy(), ball.get_velocities().numpy().copy()
        slip = np.abs(speeds[:, :2] + 0.1 * speeds[:, [4, 3]] * [-1.0, 1.0]).max(axis=1)

        def reason(world: int) -> str:
            if max(heights[world], ball.get_transforms().numpy()[world, 2]) > 0.1:
                return "the ball is off the ground"
            if is_friction and self.bed.solver in LARGER_FRICTION:
                return "the ground's friction is larger, and holds"
            return "the ball rolls" if is_friction and slip[world] < 0.1 else ""

        return reason

    def forces(self, rng: np.random.Generator, fault: str) -> Call:
        """Push bodies."""
        view = self.bed.views[[*ARTICULATIONS, *BODIES][rng.integers(6)]]
        shape = view.get_masses().numpy().shape
        rows = rows_of(view.count, rng, fault)
        take = rows.chosen if rows.arguments.get("compact") else slice(None)
        data = rng.uniform(-5, 5, (*shape, 3)).astype(np.float32)
        more: dict[str, Any] = {"torques": data[take] / 10} if rng.random() < 0.3 else {}
        more |= {"frame": "body"} if rng.random() < 0.3 else {}
        return Call(
            name=f"apply_forces({rows.arguments}, {list(more)}, fault={fault})",
            act=lambda: view.apply_forces(wrong(data[take], fault, rng), **rows.arguments, **more),
            worlds=frozenset(view.world_ids[rows.chosen].tolist()),
            names=["apply_forces"],
            is_wrong=fault != "none" and not (fault == "nan" and not rows.chosen.size),
        )

    def group(self, rng: np.random.Generator, fault: str) -> Call:
        """Set a parameter of the group."""
        group, worlds = self.bed.group, self._worlds(rng, fault if fault in ("row", "mask") else "none")
        name = "stiffness" if fault == "both" else group.parameters[rng.integers(len(group.parameters))]
        value = {"nan": np.nan, "shape": np.ones(7), "text": -1.0 if name != "const_effort" else np.inf}.get(fault)
        scale = 0.1 if name in ("armature", "friction", "damping") else 1.0
        value = scale * float(rng.uniform(1.0, 30.0)) if value is None else value
        before = group.get(name).numpy().copy() if fault != "both" else np.zeros((3, 1))
        expected = before.copy()
        if fault == "none":
            expected[worlds[1]] = np.float32(value)
        asked = frozenset(np.flatnonzero((before != expected).any(axis=1)).tolist())
        off = self._gains() == (0.0, 0.0) and scale == 1.0
        speeds = self.bed.views["robot"].get_dof_velocities().numpy()[:, 0].copy()

        def reason(world: int) -> str:
            effort = np.abs(group.computed_effort.numpy()[world]).max()
            if name in ("kd", "friction", "damping") and abs(speeds[world]) < 1e-5:
                return "the joint is at rest"
            if name == "effort_limit" and effort < min(before[world].min(), expected[world].min()):
                return "the effort is within its limit"
            return "the group is off" if off else ""

        return Call(
            name=f"group.set({name}, {value}, {worlds[0]}, fault={fault})",
            act=lambda: group.set(name, value, worlds[0]),
            worlds=asked,
            is_wrong=fault != "none" and not (fault in ("nan", "text") and worlds[1].size == 0),
            names=[name] if fault not in ("row", "mask") else [],
            check=lambda: _unlike(name, group.get(name).numpy(), expected, np.ones(before.shape, dtype=bool)),
            none=reason,
        )

    def targets(self, rng: np.random.Generator, fault: str) -> Call:
        """Write targets of the group in its own array."""
        group = self.bed.group
        name = ["position_targets", "velocity_targets", "feedforward"][rng.integers(3)]
        if fault != "none":
            return Call(name=f"group.{name} = 1.0", act=lambda: setattr(group, name, 1.0), names=[name], is_wrong=True)
        world, array = int(rng.integers(3)), getattr(group, name)
        values = array.numpy().copy()
        values[world] = rng.uniform(-0.3, 0.3)
        off = self._gains() == (0.0, 0.0)
        return Call(
            name=f"group.{name}[{world}]",
            act=lambda: array.assign(values),
            worlds=frozenset({world}),
            later=lambda: _unlike(name, array.numpy(), values, np.ones(values.shape, dtype=bool)),
            none=lambda _: "the group is off" if off else "",
        )

    def switch(self, rng: np.random.Generator, fault: str) -> Call:
        """Switch the group on or off."""
        simulation, group, on = self.bed.simulation, self.bed.group, bool(rng.integers(2))
        if fault in ("text", "nan", "shape"):
            return Call(
                name="set_enabled(sensor)",
                act=lambda: simulation.set_enabled(simulation.sensors["joints"], on),
                names=["set_enabled"],
                is_wrong=True,
            )
        was_on = not simulation._built.disabled.has(group)
        return Call(
            name=f"set_enabled({on})",
            act=lambda: simulation.set_enabled(group, on),
            worlds=frozenset(range(3)) if was_on != on else frozenset(),
        )

    def written(self, rng: np.random.Generator, fault: str) -> Call:
        """Write joints or bodies of the state, and report it."""
        simulation, model = self.bed.simulation, self.bed.simulation.model
        what = ["joints", "bodies"][rng.integers(2)] if fault != "text" else "links"
        given, worlds = self._worlds(rng, "mask" if fault == "nan" else fault)
        is_wrong = fault not in ("none", "both")
        state = simulation.state
        array = state.body_q if what == "bodies" else state.joint_q
        before, of_row = array.numpy().copy(), worlds_of(model, "body_q" if what == "bodies" else "joint_q")
        after = before.copy()
        chosen = np.isin(of_row, worlds)
        after[chosen, ...] += np.float32([0.0, 0.0, 0.01, 0, 0, 0, 0]) if what == "bodies" else np.float32(0.0)
        if what != "bodies":
            elbows = np.flatnonzero(chosen & self._is_elbow())
            after[elbows] += np.float32(0.05)

        def act() -> None:
            simulation.invalidate(what, given)  # what is written before the next step counts
            array.assign(after)

        return Call(
            name=f"invalidate({what}, {given}, fault={fault})",
            act=act,
            worlds=frozenset(worlds.tolist()) if not is_wrong else frozenset(),
            names=["invalidate"],
            is_wrong=is_wrong,
        )

    def _is_elbow(self) -> np.ndarray:
        model = self.bed.simulation.model
        starts = model.joint_q_start.numpy()
        elbows = [starts[i] for i, label in enumerate(model.joint_label) if label == "elbow"]
        return np.isin(np.arange(model.joint_coord_count), elbows)

    def sensor(self, rng: np.random.Generator, fault: str) -> Call:
        """Read the sensor of joints, which changes nothing."""
        del rng, fault
        outputs = self.bed.simulation.sensors["joints"].outputs
        state, model = self.bed.simulation.state, self.bed.simulation.model

        def later() -> str:
            velocity = np.sort(outputs["velocity"].data.numpy().ravel())
            starts, types = model.joint_qd_start.numpy(), model.joint_type.numpy()
            free = [range(starts[i], starts[i + 1]) for i in np.flatnonzero(types == newton.JointType.FREE)]
            rest = np.delete(state.joint_qd.numpy(), np.concatenate(free).astype(int))
            is_same = velocity.size == rest.size and np.allclose(velocity, np.sort(rest), atol=1e-5)
            return "" if is_same else f"the sensor reads {velocity}, the joints move at {np.sort(rest)}"

        return Call(name="outputs of the sensor", act=lambda: outputs["velocity"].data.numpy(), later=later)

    def gravity(self, rng: np.random.Generator, fault: str) -> Call:
        """Set the gravity of some worlds."""
        view, count = self.bed.simulation.view, self.bed.world_count
        given, worlds = self._worlds(rng, fault)
        present = view.get_gravity().numpy().copy()
        new = rng.uniform(-10.0, 10.0, (count, 3)).astype(np.float32) * [0.1, 0.1, 1.0]
        new = present.copy() if rng.random() < 0.1 else new.astype(np.float32)
        expected = present.copy()
        expected[worlds] = new[worlds]
        is_wrong = fault not in ("none", "both") and not (fault == "nan" and not worlds.size)
        return Call(
            name=f"set_gravity({given}, fault={fault})",
            act=lambda: view.set_gravity(wrong(new, fault, rng), given),
            null=lambda: view.set_gravity(present, given),
            worlds=frozenset(np.flatnonzero((present != expected).any(axis=1)).tolist()),
            names=["set_gravity"],
            is_wrong=is_wrong,
            check=lambda: _unlike("gravity", view.get_gravity().numpy(), expected, np.ones(present.shape, dtype=bool)),
        )

    def changed(self, rng: np.random.Generator, fault: str) -> Call:
        """Write an array of the model, and report it."""
        simulation = self.bed.simulation
        if fault in ("text", "shape"):
            wrong_flags: Any = "masses" if fault == "text" else 1 << 30
            return Call(
                name=f"notify({wrong_flags})",
                act=lambda: simulation.notify_model_changed(wrong_flags),
                names=["notify_model_changed"],
                is_wrong=True,
            )
        choices = ["gravity"]
        if self.bed.has_bodies:
            choices += [
                "body_mass",
                "joint_armature",
                "joint_damping",
                "joint_friction",
                "joint_target_ke",
                "shape_material_mu",
            ]
        name = choices[rng.integers(len(choices))]
        flag = newton.ModelFlags[CHANGES[name][0]]
        array, world = arrays_of(simulation.model)[name], int(rng.integers(self.bed.world_count))
        before = array.numpy().copy()
        of_row = np.arange(len(before)) if name == "gravity" else worlds_of(simulation.model, name)
        after = before.copy()
        if name.startswith("joint_"):  # a free root has neither drives nor armature
            of_row = np.where(np.isin(np.arange(len(before)), self.bed.views["all"].dof_indices), of_row, -1)
        if name == "gravity":  # a part of what many calls have left could be too small to be seen
            after[of_row == world] += np.float32(rng.uniform(0.5, 1.0) * rng.choice([-1.0, 1.0]))
        else:
            after[of_row == world] = after[of_row == world] * np.float32(rng.uniform(0.5, 0.9)) + np.float32(0.05)
        inverse = (
            None
            if name != "body_mass"
            else (simulation.model.body_inv_mass, simulation.model.body_inv_mass.numpy().copy())
        )
        lacks = CHANGES[name][1] and self.bed.features is not None and CHANGES[name][1] not in self.bed.features

        def act() -> None:
            simulation.notify_model_changed(flag)
            if lacks:
                return
            array.assign(after)
            if inverse is not None:
                inverse[0].assign(np.where(inverse[1] > 0, 1 / after, 0).astype(np.float32))

        return Call(
            name=f"notify_model_changed({name} of world {world})",
            act=act,
            null=lambda: simulation.notify_model_changed(flag),
            worlds=frozenset() if lacks or (before == after).all() else frozenset({world}),
            names=["notify_model_changed"],
            none=self._no_touch(True) if name.startswith("shape") else lambda _: "",
        )

    def reset(self, rng: np.random.Generator, fault: str) -> Call:
        """Reset some worlds."""
        given, worlds = self._worlds(rng, fault)
        start = self.bed.start_motion

        def check() -> str:
            now = self.bed.motion()
            names = [name for name in ("joint_q", "joint_qd", "particle_q", "particle_qd") if name in now]
            odd = [
                (name, world)
                for name in names
                for world in worlds
                if not np.array_equal(now[name][world], start[name][world])
            ]
            return f"worlds are not at their start: {odd}" if odd else ""

        return Call(
            name=f"reset({given}, fault={fault})",
            act=lambda: self.bed.simulation.reset(given),
            names=["reset"],
            is_wrong=fault not in ("none", "both", "nan"),
            worlds=frozenset(worlds.tolist()) if fault in ("none", "both", "nan") else frozenset(),
            check=check,
            none=lambda _: "it is at its start",
        )

    def callback(self, rng: np.random.Generator, fault: str) -> Call:
        """Add a callback that pushes one world, or remove it."""
        callbacks, bed = self.bed.simulation.callbacks, self.bed
        if fault in ("text", "nan"):
            return Call(
                name="callbacks.add(…)",
                act=lambda: callbacks.add("before_steps" if fault == "text" else "before_substep", lambda model: None),
                names=["callbacks"],
                is_wrong=True,
            )
        handles, world = bed.handles, int(rng.integers(bed.world_count))
        if handles:
            asked = next(iter(handles))
            act = lambda: handles.pop(asked).remove()  # noqa: E731
            return Call(name=f"callback of world {asked} removed", act=act, worlds=frozenset({asked}))
        of_row = worlds_of(bed.simulation.model, "body_f" if bed.has_bodies else "particle_f")

        push = Push("body_f" if bed.has_bodies else "particle_f", of_row == world)

        def act() -> None:
            handles[world] = callbacks.add("before_substep", push, is_capturable=False)

        return Call(name=f"callback of world {world} added", act=act, worlds=frozenset({world}))

    def save(self, rng: np.random.Generator, fault: str) -> Call:
        """Save into a file, which changes nothing."""
        del rng, fault
        return Call(name="save", act=lambda: self.bed.simulation.save(self.bed.folder / "walk.npz"))

    def _worlds(self, rng: np.random.Generator, fault: str) -> tuple[Any, np.ndarray]:
        """Return an argument that chooses worlds, and the worlds."""
        count = self.bed.world_count
        chosen = np.flatnonzero(rng.random(count) < 0.5)
        mask = np.isin(np.arange(count), chosen)
        if fault == "row":
            return [*chosen.tolist(), count + 1], chosen
        if fault in ("mask", "shape", "text"):
            return np.append(mask, True), chosen
        form = rng.integers(4)
        if form == 0:
            return None, np.arange(count)
        return [mask, chosen.tolist(), chosen.astype(np.int32)][form - 1], chosen


class Push:
    """A callback that pushes some bodies or particles.

    Args:
        name: Array of the state that holds the forces.
        is_pushed: Whether each row is pushed.
    """

    def __init__(self, name: str, is_pushed: np.ndarray) -> None:
        self._name, self._is_pushed = name, is_pushed

    def __call__(self, state: newton.State) -> None:
        """Add 0.5 N along each axis."""
        array: Any = getattr(state, self._name)
        forces = array.numpy().copy()
        forces[self._is_pushed] += np.float32(0.5)
        array.assign(forces)


CHANGES: Mapping[str, tuple[str, str]] = {
    "gravity": ("MODEL_PROPERTIES", ""),
    "body_mass": ("BODY_INERTIAL_PROPERTIES", ""),
    "joint_armature": ("JOINT_DOF_INERTIAL_PROPERTIES", "armature"),
    "joint_damping": ("JOINT_DOF_FORCE_PROPERTIES", "joint_damping"),
    "joint_friction": ("JOINT_DOF_FORCE_PROPERTIES", "joint_friction"),
    "joint_target_ke": ("JOINT_DOF_FORCE_PROPERTIES", ""),
    "shape_material_mu": ("SHAPE_PROPERTIES", ""),
}
"""Arrays that the walk writes itself, with their flag and feature."""

_OF_DRIVES = (
    *("dof_positions", "dof_velocities", "dof_position_targets", "dof_velocity_targets"),
    *("dof_stiffnesses", "dof_dampings"),
)


def _unlike(name: str, found: np.ndarray, expected: np.ndarray, used: np.ndarray) -> str:
    """Return how a reading differs from what was set; quaternions of both signs are the same turn."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if found.shape[-1:] == (7,):
        signs = np.sign(np.sum(found[..., 3:] * expected[..., 3:], axis=-1, keepdims=True))
        found = np.concatenate([found[..., :3], found[..., 3:] * signs], axis=-1)
    with np.errstate(all="ignore"):
        off = ~((np.abs(found - expected) <= 1e-4 + 1e-5 * np.abs(expected)) | (found == expected)) & used
    return f"{name} reads back {found[off][:4]} and not {expected[off][:4]}" if off.any() else ""
