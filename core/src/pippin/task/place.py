"""Place of a term in its task: what it resolves labels with, and the arrays that terms share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import labels
from pippin.arrays import on_host
from pippin.axes import axis_labels
from pippin.binding import Host
from pippin.config.component import ComponentConfig
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean
from pippin.state.draws import Draws, WorldSeeds

from .columns import columns
from .making import make_term

__all__ = ["Joints", "Measured", "TaskPlace", "Worlds"]


class Worlds:
    """The arrays of a task that belong to its worlds.

    Args:
        count: The number of worlds.
        seeds: The seeds of their random draws.
        device: Device of the arrays.
    """

    action: wp.array
    """Action of this control step, shape [count, width]; known after the actions."""
    last_action: wp.array
    """Action of the control step before, shape [count, width]; zero after a reset."""

    def __init__(self, count: int, seeds: WorldSeeds, device: wp.Device) -> None:
        self.count, self.first, self.device, self.of_host = count, seeds.first, device, seeds
        #: Seed of each world's random draws, shape [count].
        self.seeds: wp.array[int] = seeds.values
        #: Control steps of the episode so far, shape [count].
        self.length: Any = wp.zeros(count, dtype=int, device=device)
        #: The worlds whose episode ended in this step by a termination, or because its time is over, shape [count].
        self.terminated, self.truncated = (wp.zeros(count, dtype=bool, device=device) for _ in range(2))

    def set_action_width(self, width: int) -> None:
        """Make the arrays of actions, shape [count, width]."""
        self.action, self.last_action = (
            wp.zeros((self.count, width), dtype=float, device=self.device) for _ in range(2)
        )


@attrs.frozen(eq=False)
class Joints:
    """Axes of joints that patterns chose, in every world."""

    labels: tuple[str, ...]
    """Labels of the axes in the first world."""
    dofs: wp.array
    """Index of each axis into DOF-shaped arrays, shape [worlds, axes]."""
    coordinates: wp.array
    """Index of each axis into coordinate-shaped arrays, shape [worlds, axes]."""


@attrs.frozen(eq=False)
class Measured:
    """A quantity with the array of its numbers; equal choices share one."""

    choice: ComponentConfig
    quantity: Any
    """The term, a `pippin.task.Quantity`."""
    values: wp.array
    """Numbers of the present state, shape [worlds, width]."""


class TaskPlace:
    """The task and the simulation as a term sees them.

    Args:
        simulation: The simulation; its arrays exist.
        worlds: The arrays of the task.
        name: Name of the term: `rewards.effort`.
        measured: The quantities so far; terms of equal configuration share one.
        commands: The commands by label.
        claims: The terms that set a target, or change a part of the model, by what they change.
        actions: The actions by label.
    """

    def __init__(
        self,
        simulation: Host,
        worlds: Worlds,
        name: str,
        measured: list[Measured],
        commands: Mapping[str, Any],
        claims: dict[str, str] | None = None,
        actions: Mapping[str, Any] | None = None,
    ) -> None:
        self.simulation, self.worlds, self.name = simulation, worlds, name
        self._measured, self._commands = measured, commands
        self._claims, self._actions = {} if claims is None else claims, {} if actions is None else actions
        #: The number of worlds.
        self.world_count: int = worlds.count
        self.device = worlds.device

    def draws(self, what: str = "") -> Draws:
        """Return the random numbers of this term; `what` tells several draws of one term apart."""
        return self.worlds.of_host.draws(f"task.{self.name}/{what}")

    def quantity(self, choice: ComponentConfig, where: str = "of") -> Measured:
        """Return a quantity, which is measured once per state for all terms that choose it.

        Args:
            choice: The type of the quantity, and its configuration.
            where: Key of the choice in the term's table, for errors.

        Raises:
            ConfigError: The quantity does not fit the simulation.
        """
        for measured in self._measured:
            if measured.choice == choice:
                return measured
        quantity = make_term(self.simulation, "quantity", choice, self, where, f"task.{self.name}.{where}")
        values: Any = wp.zeros((self.world_count, len(quantity.labels)), dtype=float, device=self.device)
        measured = Measured(choice, quantity, values)
        self._measured.append(measured)
        return measured

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
        measured = self.quantity(choice)
        chosen = columns(measured.quantity.labels, axes, "axes")
        if isinstance(target, str):
            command = self.command(target, "target")
            if max(chosen) >= command.value.shape[1]:
                raise ConfigError(f"target: {target!r} has {command.value.shape[1]} numbers; choose other axes")
            return measured.values, self.ints(chosen), command.value, self.ints(chosen)
        numbers = [0.0 if target is None else target] if not isinstance(target, Sequence) else list(target)
        if len(numbers) not in (1, len(chosen)):
            raise ConfigError(f"target: expected 1 or {len(chosen)} numbers, got {len(numbers)}; give one for each")
        row: Any = wp.array([numbers], dtype=float, device=self.device)
        order = [0] * len(chosen) if len(numbers) == 1 else list(range(len(chosen)))
        return measured.values, self.ints(chosen), row, self.ints(order)

    def ints(self, values: Iterable[int]) -> wp.array[int]:
        """Return the integers `values` as an array on the device, shape [len(values)]."""
        return wp.array(np.fromiter(values, dtype=np.int32), dtype=int, device=self.device)

    def command(self, label: str, where: str) -> Any:
        """Return a command by its label.

        Raises:
            ConfigError: There is none of this label.
        """
        if label not in self._commands:
            raise ConfigError(_unknown(where, "command", label, self._commands))
        return self._commands[label]

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

    def action(self, label: str, where: str) -> Any:
        """Return an action by its label.

        Raises:
            ConfigError: There is none of this label.
        """
        if label not in self._actions:
            raise ConfigError(_unknown(where, "action", label, self._actions))
        return self._actions[label]

    def actuator(self, label: str, where: str = "actuator") -> Any:
        """Return an actuator group of the simulation by its label, which must be in all worlds.

        Raises:
            ConfigError: There is none of this label, or it is not in all worlds.
        """
        return self._component("actuators", label, where)

    def sensor(self, label: str, where: str = "sensor") -> Any:
        """Return a sensor of the simulation by its label, which must be in all worlds.

        Raises:
            ConfigError: There is none of this label, or it is not in all worlds.
        """
        return self._component("sensors", label, where)

    def _component(self, table: str, label: str, where: str) -> Any:
        components = getattr(self.simulation, table)
        if label not in components:
            raise ConfigError(_unknown(where, table[:-1], label, components))
        component = components[label]
        worlds = getattr(component, "worlds", None)
        if worlds is not None and len(worlds) != self.world_count:
            raise ConfigError(f"{where}: {label!r} is in {len(worlds)} of {self.world_count} worlds; a task needs all")
        return component

    def joints(self, patterns: str | Sequence[str], where: str = "joints") -> Joints:
        """Return the axes that patterns choose: hinges, sliders and the axes of joints that have several.

        Raises:
            ConfigError: A pattern matches nothing, or the worlds differ in what it matches.
        """
        model = self.simulation.model
        starts, q_starts, dof_starts = (
            on_host(each) for each in (model.joint_world_start, model.joint_q_start, model.joint_qd_start)
        )
        rows, names = [], set[tuple[str, ...]]()
        for world in range(self.world_count):
            joints = [
                joint
                for joint in range(int(starts[world]), int(starts[world + 1]))
                if q_starts[joint + 1] - q_starts[joint] == dof_starts[joint + 1] - dof_starts[joint]
            ]
            told = axis_labels(model, joints)
            pairs = [
                (int(q_starts[joint]) + k, int(dof_starts[joint]) + k)
                for joint in joints
                for k in range(int(dof_starts[joint + 1] - dof_starts[joint]))
            ]
            chosen = labels.match(patterns, told, "joint", where)
            names.add(tuple(told[index] for index in chosen))
            rows.append([pairs[index] for index in chosen])
            if len(names) > 1:
                raise ConfigError(f"{where}: worlds 0 and {world} differ in the joints that match; choose others")
        indices = np.array(rows, dtype=np.int32)
        coordinates, dofs = (np.ascontiguousarray(indices[..., side]) for side in (0, 1))
        return Joints(next(iter(names)), self._table(dofs), self._table(coordinates))

    def bodies(self, patterns: str | Sequence[str], where: str = "bodies") -> tuple[tuple[str, ...], wp.array]:
        """Return the labels of the bodies that patterns choose, and their indices, shape [worlds, bodies].

        Raises:
            ConfigError: A pattern matches nothing, or the worlds differ in what it matches.
        """
        names, rows = self._body_rows(patterns, where)
        return names, self._table(np.array(rows, dtype=np.int32))

    def shapes(self, patterns: str | Sequence[str], where: str = "bodies") -> tuple[tuple[str, ...], wp.array]:
        """Return the labels of the bodies that patterns choose, and the indices of their shapes that collide, shape
        [worlds, shapes].

        Raises:
            ConfigError: A pattern matches nothing, no chosen body collides, or the worlds differ.
        """
        model = self.simulation.model
        names, bodies = self._body_rows(patterns, where)
        collides = (on_host(model.shape_flags) & int(newton.ShapeFlags.COLLIDE_SHAPES)) != 0
        of_shape = on_host(model.shape_body)
        rows = [np.flatnonzero(collides & np.isin(of_shape, row)) for row in bodies]
        if not len(rows[0]):
            raise ConfigError(f"{where}: no chosen body has a shape that collides; choose others")
        for world, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise ConfigError(
                    f"{where}: worlds 0 and {world} have {len(rows[0])} and {len(row)} shapes; choose other bodies"
                )
        return names, self._table(np.array(rows, dtype=np.int32))

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
        return model.body_label[int(bodies[0])], self._table(np.array(rows, dtype=np.int32))

    def _body_rows(self, patterns: str | Sequence[str], where: str) -> tuple[tuple[str, ...], list[list[int]]]:
        model = self.simulation.model
        starts = on_host(model.body_world_start)
        rows, names = [], set[tuple[str, ...]]()
        for world in range(self.world_count):
            first, end = int(starts[world]), int(starts[world + 1])
            told = list(model.body_label[first:end])
            chosen = labels.match(patterns, told, "body", where)
            names.add(tuple(told[index] for index in chosen))
            rows.append([first + index for index in chosen])
            if len(names) > 1:
                raise ConfigError(f"{where}: worlds 0 and {world} differ in the bodies that match; choose others")
        return next(iter(names)), rows

    def root(self, pattern: str | None, where: str = "body") -> wp.array[int]:
        """Return the index of a body in each world, shape [worlds]: the only one that a pattern matches, or the first.

        Raises:
            ConfigError: The pattern does not match exactly one body, or there is no body.
        """
        model = self.simulation.model
        if pattern is None:
            starts = on_host(model.body_world_start)
            if int(starts[1]) == int(starts[0]):
                raise ConfigError(f"{where}: the worlds have no bodies")
            return self.ints(int(start) for start in starts[: self.world_count])
        told, indices = self.bodies(pattern, where)
        if len(told) != 1:
            raise ConfigError(f"{where}: {pattern!r} matches {len(told)} bodies: {', '.join(told)}; choose one")
        return indices.flatten()

    def _table(self, indices: np.ndarray) -> wp.array:
        table: Any = wp.array(indices, dtype=int, device=self.device)
        return table


def _unknown(where: str, kind: str, label: str, known: Iterable[str]) -> str:
    names = list(known)
    return f"{where}: there is no {kind} {label!r}{did_you_mean(label, names)}; labels: {', '.join(names) or 'none'}"
