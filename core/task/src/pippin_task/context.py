"""The task and the simulation as a term sees them: what it resolves labels with, and the arrays that terms share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeVar, cast

import newton
import numpy as np
import warp as wp
from pippin import ComponentConfig, ConfigError, Host, did_you_mean, labels
from pippin.arrays import on_host
from pippin.axes import axis_labels
from pippin.controllers import Tools
from pippin.sensing import Output
from pippin.state import Draws, Scratch, StartPoses

from .episodes import EpisodeBuffers

Patterns = str | Sequence[str]

Method = TypeVar("Method", bound=Callable[..., Any])


class _Found(Scratch, dict[Any, Any]):
    """Answers by their question: constants, which belong to no checkpoint."""


def _once(method: Method) -> Method:
    """Look up at the first call alone: a user's function asks in each step, and a graph must read memory that stays."""

    @wraps(method)
    def found(self: TermContext, *arguments: Any, **options: Any) -> Any:
        question = (method.__name__, repr(arguments), repr(options))
        if question not in self._found:
            self._found[question] = method(self, *arguments, **options)
        return self._found[question]

    return cast("Method", found)


class TermContext:
    """The task and the simulation as a term sees them.

    Args:
        simulation: The simulation; its arrays exist.
        episodes: The arrays of the task.
        name: Name of the term: `rewards.effort`.
        measure: Finds or makes the quantity of a choice, for a context and a key of its term's table.
        commands: The commands by label.
        actions: The actions by label.
        claims: The terms that set a target, or change a part of the model, by what they change.
        changeable: The numbers of terms that curricula may change, by table and label, such as `commands.velocity`.
    """

    def __init__(
        self,
        simulation: Host,
        episodes: EpisodeBuffers,
        name: str,
        measure: Callable[[ComponentConfig, TermContext, str], Any],
        commands: Mapping[str, Any],
        actions: Mapping[str, Any],
        claims: dict[str, str],
        changeable: Mapping[str, Mapping[str, wp.array]] = MappingProxyType({}),
    ) -> None:
        self.simulation, self.episodes, self.name = simulation, episodes, name
        self._changeable = changeable
        self._measure, self._commands, self._actions, self._claims = measure, commands, actions, claims
        #: The number of worlds.
        self.world_count: int = simulation.world_count
        self.device = simulation.device
        self._found = _Found()

    def draws(self, what: str = "") -> Draws:
        """Return the random numbers of this term; `what` tells several draws of one term apart."""
        return self.simulation.seeds.draws(f"task.{self.name}/{what}")

    def quantity(self, choice: ComponentConfig, where: str = "of") -> Any:
        """Return a `pippin_task.Quantity`, which is measured once per state, into `values`, for all that choose it.

        Args:
            choice: The type of the quantity, and its configuration.
            where: Key of the choice in the term's table, for errors.

        Raises:
            ConfigError: The quantity does not fit the simulation.
        """
        return self._measure(choice, self, where)

    def difference(
        self, choice: ComponentConfig, axes: str | None, target: float | Sequence[float] | str | None
    ) -> tuple[wp.array, wp.array[int], wp.array, wp.array[int]]:
        """Return a quantity's numbers and the chosen columns, and the numbers to subtract with their columns.

        The numbers have the shape [worlds, width], their columns [components]. Targets have one row for all worlds, or
        one row for each: take the row `world % rows`.

        Args:
            choice: The type of the quantity, and its configuration.
            axes: Components that count, some of `x`, `y`, `z`; None for all.
            target: A number, one for each component, or the label of a command; None for zero.

        Raises:
            ConfigError: An axis, the number of targets or the command is wrong.
        """
        quantity = self.quantity(choice)
        chosen = quantity.chosen_columns(axes)
        if isinstance(target, str):
            command = self.command(target, "target")
            if max(chosen) >= command.value.shape[1]:
                raise ConfigError(f"target: {target!r} has {command.value.shape[1]} numbers; choose other axes")
            _refuse_other_units(quantity, chosen, command, target)
            return quantity.values, self.ints(chosen), command.value, self.ints(chosen)
        numbers = [0.0 if target is None else target] if not isinstance(target, Sequence) else list(target)
        if len(numbers) not in (1, len(chosen)):
            raise ConfigError(f"target: expected 1 or {len(chosen)} numbers, got {len(numbers)}; give one for each")
        row: Any = wp.array([numbers], dtype=float, device=self.device)
        order = [0] * len(chosen) if len(numbers) == 1 else list(range(len(chosen)))
        return quantity.values, self.ints(chosen), row, self.ints(order)

    def ints(self, values: Iterable[int]) -> wp.array[int]:
        """Return the integers `values` as an array on the device, shape [len(values)]."""
        return self._table(np.fromiter(values, dtype=np.int32))

    def claim(self, what: str, names: Iterable[str], where: str) -> None:
        """Note that this term alone changes something of some joints, bodies or other elements.

        Args:
            what: What is changed, such as `mass`.
            names: Labels of the elements.
            where: Key that chose them, for the error.

        Raises:
            ConfigError: Another term changes it already, so that one of the two changes would be lost.
        """
        for name in names:
            other = self._claims.setdefault(f"{what} of {name!r}", self.name)
            if other != self.name:
                raise ConfigError(
                    f"{where}: {other} changes the {what} of {name!r} already; leave it out in one of them"
                )

    def refuse_unsupported(self, attribute: str, where: str = "type") -> None:
        """Refuse an attribute of the model that the solver ignores, or reads only while it is built.

        Raises:
            ConfigError: It does.
        """
        if fault := self.simulation.services.support.attribute_fault(attribute):
            raise ConfigError(f"{where}: {fault}")

    def command(self, label: str, where: str) -> Any:
        """Return a command by its label.

        Raises:
            ConfigError: There is none of this label.
        """
        return _labelled(self._commands, "command", label, where)

    def action(self, label: str, where: str) -> Any:
        """Return an action by its label.

        Raises:
            ConfigError: There is none of this label.
        """
        return _labelled(self._actions, "action", label, where)

    def actuator(self, label: str, where: str = "actuator") -> Any:
        """Return an actuator group of the simulation by its label, which must be in all worlds.

        Raises:
            ConfigError: There is none of this label, or it is not in all worlds.
        """
        return self._component(self.simulation.actuators, "actuator", label, where)

    def controller(self, label: str, where: str = "controller") -> Any:
        """Return a controller of the simulation by its label, or an actuator group with goals of tools, such as
        `operational-space`; it must be in all worlds.

        Raises:
            ConfigError: There is none of this label, or it is not in all worlds.
        """
        return self._component(Tools.owners(self.simulation), "controller", label, where)

    def sensor(self, label: str, where: str = "sensor") -> Any:
        """Return a sensor of the simulation by its label, which must be in all worlds.

        Raises:
            ConfigError: There is none of this label, or it is not in all worlds.
        """
        return self._component(self.simulation.sensors, "sensor", label, where)

    def sensor_output(self, sensor: str, name: str) -> Output:
        """Return the output `name` of the sensor with the label `sensor`, which must be in all worlds.

        Raises:
            ConfigError: There is no such sensor or output, or it is not in all worlds; names the key.
        """
        outputs = self.sensor(sensor).outputs
        if name not in outputs:
            hint = did_you_mean(name, outputs) or ";"
            raise ConfigError(f"output: {sensor!r} has no output {name!r}{hint} outputs: {', '.join(outputs)}")
        return outputs[name]

    def numbers(self, output: Output) -> wp.array | None:
        """View a sensor's output as rows, shape [worlds, numbers]; None unless it has real numbers or flags."""
        if output.data.dtype is wp.bool:
            return output.data.reshape((self.world_count, output.data.size // self.world_count))
        return output.numbers(is_arithmetic=False)

    def contact_output(self, sensor: str, name: str) -> Output:
        """Return the output `name` of the contact sensor with the label `sensor`.

        Raises:
            ConfigError: There is no such sensor, it is not in all worlds, or it senses no contacts; names the key.
        """
        outputs = self.sensor(sensor).outputs
        if name not in outputs:
            lacking = {"force_matrix": "`partners`", "force_matrix_history": "`partners` and a `history`"}
            lacks = lacking.get(name, "a `history`")
            cure = f"give it {lacks}" if "net_force" in outputs else "choose a sensor of type 'contact'"
            raise ConfigError(f"sensor: {sensor!r} has no output {name!r}; {cure}")
        return outputs[name]

    def contact_forces(self, sensor: str, *, with_history: bool = False, by_partner: bool = False) -> wp.array:
        """Return forces of a contact sensor [N], shape [worlds, bodies, readings or partners]: by default, net forces;
        with both, shape [worlds, bodies, readings, partners].

        Args:
            sensor: Label of the sensor.
            with_history: Whether these are readings of the net force, the sensor's history.
            by_partner: Whether these are forces from the sensor's partners.

        Raises:
            ConfigError: As `contact_output`.
        """
        if with_history or by_partner:
            name = "force_matrix" if by_partner else "net_force"
            return self.contact_output(sensor, f"{name}_history" if with_history else name).data
        forces = self.contact_output(sensor, "net_force").data
        return forces.reshape((*forces.shape, 1))

    def places(self, where: str = "type") -> StartPoses:
        """For the core: return where worlds start on the terrain.

        Raises:
            ConfigError: The scene has no terrain.
        """
        places = self.simulation.services.places
        if places is None:
            raise ConfigError(f"{where}: needs patches of ground, and the scene has none; add [scene.terrain]")
        return places

    def shifts(self) -> wp.array:
        """For the core: return how far the start of each world is from its first one [m], shape [worlds]."""
        places = self.simulation.services.places
        return wp.zeros(self.world_count, dtype=wp.vec3, device=self.device) if places is None else places.shifts

    def changeable(self, term: str, where: str = "of") -> Mapping[str, wp.array]:
        """Return the arrays of numbers of a term that a curriculum may change, by key, shape [numbers] each.

        A reward has `weight`, which counts for a control step: that of its table, times the length of the step if
        `task.reward_rate` is `second`.

        Args:
            term: Table and label of the term, such as `commands.velocity`.
            where: Key that names it, for the error.

        Raises:
            ConfigError: There is no such term.
        """
        return _labelled(self._changeable, "term", term, where, listed="terms")

    @_once
    def joints(self, patterns: Patterns, where: str = "joints") -> tuple[tuple[str, ...], wp.array, wp.array]:
        """Return the axes that patterns choose: hinges, sliders and the axes of joints that have several.

        Returns:
            Labels of the axes, and the index of each into coordinate-shaped and into DOF-shaped arrays, shape
            [worlds, axes] each.

        Raises:
            ConfigError: A pattern matches nothing, or the worlds differ in what it matches.
        """
        model = self.simulation.model
        starts, q_starts, dof_starts = (
            on_host(each) for each in (model.joint_world_start, model.joint_q_start, model.joint_qd_start)
        )
        has_coordinates = np.diff(q_starts) == np.diff(dof_starts)

        def axes(world: int) -> tuple[Sequence[str], list[tuple[int, int]]]:
            joints = [joint for joint in range(int(starts[world]), int(starts[world + 1])) if has_coordinates[joint]]
            indices = [
                (int(q_starts[joint]) + k, int(dof_starts[joint]) + k)
                for joint in joints
                for k in range(int(dof_starts[joint + 1] - dof_starts[joint]))
            ]
            return axis_labels(model, joints), indices

        names, rows = self._matched(patterns, "joint", where, axes)
        coordinates, dofs = (self._table(side) for side in np.moveaxis(np.array(rows, dtype=np.int32), -1, 0))
        return names, coordinates, dofs

    @_once
    def bodies(self, patterns: Patterns, where: str = "bodies") -> tuple[tuple[str, ...], wp.array]:
        """Return the labels of the bodies that patterns choose, and their indices, shape [worlds, bodies].

        Raises:
            ConfigError: A pattern matches nothing, or the worlds differ in what it matches.
        """
        model = self.simulation.model
        starts = on_host(model.body_world_start).tolist()

        def bodies(world: int) -> tuple[Sequence[str], Sequence[int]]:
            own = range(starts[world], starts[world + 1])
            return [model.body_label[body] for body in own], own

        names, rows = self._matched(patterns, "body", where, bodies)
        return names, self._table(rows)

    @_once
    def shapes(
        self, patterns: Patterns, where: str = "bodies", shapes: Patterns = (".*",)
    ) -> tuple[tuple[str, ...], wp.array]:
        """Return the labels of the bodies that patterns choose, and the indices of their shapes that collide and that
        the other patterns choose, shape [worlds, shapes].

        Raises:
            ConfigError: A pattern matches nothing, no chosen body collides, or the worlds differ.
        """
        model = self.simulation.model
        names, bodies = self.bodies(patterns, where)
        collides = (on_host(model.shape_flags) & int(newton.ShapeFlags.COLLIDE_SHAPES)) != 0
        of_shape = on_host(model.shape_body)
        if tuple(shapes) != (".*",):
            chosen = np.zeros(len(of_shape), dtype=bool)
            chosen[labels.match(shapes, model.shape_label, "shape", "shapes")] = True
            collides &= chosen
        rows = [np.flatnonzero(collides & np.isin(of_shape, row)) for row in on_host(bodies)]
        if not len(rows[0]):
            raise ConfigError(f"{where}: no chosen body has a shape that collides; choose others")
        for world, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise ConfigError(
                    f"{where}: worlds 0 and {world} have {len(rows[0])} and {len(row)} shapes; choose other bodies"
                )
        return names, self._table(rows)

    @_once
    def free_joint(self, pattern: str | None, where: str = "body") -> tuple[str, wp.array]:
        """Return the label of a free body, and the first coordinate and DOF of its joint, shape [worlds, 2].

        Raises:
            ConfigError: The pattern does not match exactly one body, or its body is held by a joint.
        """
        model, bodies = self.simulation.model, on_host(self.root(pattern, where))
        children, kinds, q_starts, dof_starts = (
            on_host(each) for each in (model.joint_child, model.joint_type, model.joint_q_start, model.joint_qd_start)
        )
        rows = []
        for body in bodies.tolist():
            joints = np.flatnonzero((children == body) & (kinds == int(newton.JointType.FREE)))
            if not len(joints):
                raise ConfigError(
                    f"{where}: {model.body_label[body]!r} is not free; choose a body that no joint holds, or set"
                    " floating = true in the asset"
                )
            rows.append([int(q_starts[joints[0]]), int(dof_starts[joints[0]])])
        return model.body_label[int(bodies[0])], self._table(rows)

    @_once
    def root(self, pattern: str | None, where: str = "body") -> wp.array[int]:
        """Return the index of a body in each world, shape [worlds]: the only one that a pattern matches, or the first.

        Raises:
            ConfigError: The pattern does not match exactly one body, or there is no body.
        """
        if pattern is None:
            starts = on_host(self.simulation.model.body_world_start)
            if int(starts[1]) == int(starts[0]):
                raise ConfigError(f"{where}: the worlds have no bodies")
            return self.ints(int(start) for start in starts[: self.world_count])
        names, indices = self.bodies(pattern, where)
        if len(names) != 1:
            raise ConfigError(f"{where}: {pattern!r} matches {len(names)} bodies: {', '.join(names)}; choose one")
        return indices.flatten()

    def _matched(
        self, patterns: Patterns, kind: str, where: str, elements: Callable[[int], tuple[Sequence[str], Sequence[Any]]]
    ) -> tuple[tuple[str, ...], list[list[Any]]]:
        rows, names = [], set[tuple[str, ...]]()
        for world in range(self.world_count):
            known, indices = elements(world)
            chosen = labels.match(patterns, known, kind, where)
            names.add(tuple(known[index] for index in chosen))
            rows.append([indices[index] for index in chosen])
            if len(names) > 1:
                which = {"joint": "joints", "body": "bodies"}[kind]
                raise ConfigError(f"{where}: worlds 0 and {world} differ in the {which} that match; choose others")
        return next(iter(names)), rows

    def _component(self, components: Mapping[str, Any], kind: str, label: str, where: str) -> Any:
        component = _labelled(components, kind, label, where)
        worlds = getattr(component, "worlds", None)
        if worlds is not None and len(worlds) != self.world_count:
            raise ConfigError(f"{where}: {label!r} is in {len(worlds)} of {self.world_count} worlds; a task needs all")
        return component

    def _table(self, indices: Any) -> wp.array:
        numbers = np.ascontiguousarray(indices, dtype=np.int32)
        question = (numbers.shape, numbers.tobytes())
        if question not in self._found:
            self._found[question] = wp.array(numbers, dtype=int, device=self.device)
        return self._found[question]


def _refuse_other_units(quantity: Any, columns: Sequence[int], command: Any, label: str) -> None:
    """Refuse to subtract a command's numbers from those of another unit, if both units are known."""
    units = [unit.strip() for unit in command.unit.split(",")]
    units = units * len(command.labels) if len(units) == 1 else units
    for column in columns:
        if "," not in quantity.unit and len({quantity.unit, units[column]} - {"1", "its own"}) == 2:
            raise ConfigError(
                f"target: {command.labels[column]} of {label!r} is in {units[column]}, and the quantity in"
                f" {quantity.unit}; choose other axes, or another target"
            )


def _labelled(known: Mapping[str, Any], kind: str, label: str, where: str, listed: str = "labels") -> Any:
    if label not in known:
        names = ", ".join(known) or "none"
        raise ConfigError(f"{where}: there is no {kind} {label!r}{did_you_mean(label, known)}; {listed}: {names}")
    return known[label]
