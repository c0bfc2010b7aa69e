"""The actuators that an asset's own file defines, as a Pippin actuator: their inputs are set, as MuJoCo's `ctrl`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from pippin import Binding, Host
from pippin.actuation import AssetActuators, Lanes, Parameters
from pippin.arrays import on_host
from pippin.labels import lookup

from . import ControlConfig
from .kernels import write_inputs

__all__ = ["ActuatorControl"]


class ActuatorControl:
    """The asset's own actuators. They act by the law that the file gives them; this group sets their inputs.

    Args:
        config: The actuators and their first inputs.
    """

    shared_arrays = frozenset({"joint_target_ke", "joint_target_kd", "joint_effort_limit"})
    """Arrays of `control` and the model that users may set for the driven DOFs."""
    is_open_loop = True

    def __init__(self, config: ControlConfig) -> None:
        self.config = config
        self._chosen: dict[int, list[int]] = {}

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Find the actuators, and note that this group sets their inputs."""
        if hasattr(self, "_lanes"):
            raise pippin.ConfigError(
                f"object: this {type(self).__name__} belongs to another simulation; make an object for each simulation"
            )
        own = AssetActuators(builder)
        self._chosen[prototype] = own.choose(self.config.actuators, "actuators")
        own.control(self._chosen[prototype], "actuators")
        names = tuple(own.labels[index] for index in self._chosen[prototype])
        if self.config.ctrl is not None:
            given = lookup(self.config.ctrl, names, "ctrl", "actuator")
            _refuse_beyond(np.array(given, dtype=np.float32), own.ctrl_ranges[self._chosen[prototype]], names)

    @pippin.hookimpl
    def bind(self, simulation: Host, binding: Binding) -> None:
        """Find the inputs of the actuators in all worlds that have them."""
        own = AssetActuators(simulation.model)
        rows, labels_of_world = self._rows(own, simulation, binding)
        self._ranges = own.ctrl_ranges[rows]
        kinds = np.where(own.is_velocity, 2, np.where(own.is_servo, 1, 0))[rows]
        places, references = (np.array(each).reshape(rows.shape) for each in _places(own, rows))
        self._lanes = Lanes(
            labels=labels_of_world[0],
            labels_of_world=labels_of_world,
            worlds=binding.worlds,
            world_count=simulation.world_count,
            dofs=places,
            coordinates=places,
            device=simulation.model.device,
            dt=simulation.dt,
            catalog=simulation.catalog,
            what="actuator",
        )
        self._inputs = self._lanes.per_lane(self.config.ctrl, "ctrl", missing=0.0)
        if self.config.ctrl is None:
            self._inputs.assign(_first_inputs(simulation, kinds, places, references).ravel())
        self._parameters = Parameters(self._lanes, self._lanes.world_of_lane(), binding)
        self._kinds, self._places, self._references = (
            wp.array(each.ravel(), dtype=dtype, device=self._lanes.device)
            for each, dtype in ((kinds, int), (places, int), (references, float))
        )
        self._bounds = wp.array(self._ranges.reshape(-1, 2), dtype=wp.vec2, device=self._lanes.device)
        axes = (own.transmissions.axis(row) for row in rows.ravel().tolist())
        #: Degrees of freedom of the joints that one of the actuators acts on directly, and not by a tendon.
        self.actuated_dofs = wp.array(
            sorted({axis for axis in axes if axis is not None}), dtype=int, device=self._lanes.device
        )

    @pippin.hookimpl
    def apply_actuators(self, control: newton.Control) -> None:
        """Write the inputs where the solver reads them. May be recorded."""
        of_mujoco: Any = getattr(control, "mujoco")  # noqa: B009  a namespace of custom attributes
        inputs = [self._kinds, self._places, self._references, self._bounds, self._inputs]
        outputs = [of_mujoco.ctrl, control.joint_target_q, control.joint_target_qd]
        wp.launch(write_inputs, self._inputs.size, inputs, outputs, device=self._lanes.device)

    @property
    def ctrl(self) -> wp.array:
        """Inputs of the actuators, shape [len(worlds), actuators], to be written in place. Values beyond the range
        of an actuator act as its bound.
        """
        return self._parameters.get("ctrl")

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names for `get` and `set`: `ctrl`."""
        return tuple(self._parameters)

    def get(self, name: str) -> wp.array:
        """Return the values of a parameter, shape [len(worlds), actuators]; the next step reads what is written there.

        Raises:
            ConfigError: There is no such parameter.
        """
        return self._parameters.get(name)

    def set(
        self,
        name: str,
        values: Any,
        worlds: Sequence[int] | None = None,
        actuators: str | Sequence[str] | None = None,
    ) -> None:
        """Set the inputs from the next step on, even if the step is recorded. Reads and writes the device.

        Args:
            name: One of `parameters`.
            values: A number, or an array that NumPy can broadcast to [len(worlds), actuators].
            worlds: Indices of worlds that have the actuators; by default all of them.
            actuators: Patterns of labels, in the order of `actuator_labels`; by default all.

        Raises:
            ConfigError: There is no such parameter, world or actuator; or a value is not finite, or beyond the range
                of its actuator in the file.
        """
        before = self.get(name).numpy().copy()
        self._parameters.set(name, values, worlds, actuators)
        try:
            _refuse_beyond(self.ctrl.numpy(), self._ranges, self.actuator_labels, before)
        except pippin.ConfigError:
            self.ctrl.assign(before)
            raise

    @property
    def worlds(self) -> np.ndarray:
        """The worlds that have the actuators, ascending, as on the first axis of `ctrl`."""
        return self._lanes.worlds

    @property
    def actuator_labels(self) -> tuple[str, ...]:
        """Labels of the actuators of the first world along the second axis of `ctrl`."""
        return self._lanes.labels

    def _rows(
        self, own: AssetActuators, simulation: Host, binding: Binding
    ) -> tuple[np.ndarray, tuple[tuple[str, ...], ...]]:
        """Return the actuators in the model, shape [worlds, actuators], and their labels in each world."""
        prototypes = simulation.prototype_of_world[binding.worlds].tolist()
        found = [
            np.flatnonzero(own.worlds == world)[self._chosen[prototype]]
            for world, prototype in zip(binding.worlds.tolist(), prototypes, strict=True)
        ]
        counts = {len(each) for each in found}
        if len(counts) > 1:
            raise pippin.ConfigError(
                f"actuators: the patterns match {' or '.join(map(str, sorted(counts)))} actuators in different worlds;"
                " make a group for each kind of world"
            )
        return np.array(found), tuple(tuple(own.labels[index] for index in each) for each in found)


def _places(own: AssetActuators, rows: np.ndarray) -> tuple[list[int], list[float]]:
    """Return the index of each input in its array, and MuJoCo's position for Newton's zero [m or rad]."""
    places, references = [], []
    for row in rows.ravel().tolist():
        place = None
        if own.is_servo[row]:
            place = (own.transmissions.axis if own.is_velocity[row] else own.transmissions.coordinate)(row)
        places.append(row if place is None else place)
        references.append(0.0 if place is None else own.transmissions.reference(row))
    return places, references


def _first_inputs(simulation: Host, kinds: np.ndarray, places: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return the inputs that the model starts with."""
    control: Any = simulation.control
    direct, positions, velocities = (
        np.resize(on_host(each), max(places.max() + 1, 1))[places]
        for each in (control.mujoco.ctrl, control.joint_target_q, control.joint_target_qd)
    )
    return np.choose(kinds, [direct, positions + references, velocities]).astype(np.float32)


def _refuse_beyond(
    values: np.ndarray, ranges: np.ndarray, names: Sequence[str], before: np.ndarray | None = None
) -> None:
    """Refuse inputs beyond the ranges in the file, except for those that were there before."""
    is_beyond = (values < ranges[..., 0]) | (values > ranges[..., 1])
    is_new = np.ones_like(is_beyond) if before is None else values != before
    for index in np.argwhere(is_beyond & is_new)[:1]:
        low, high = ranges[tuple(index)]
        raise pippin.ConfigError(
            f"ctrl: {values[tuple(index)]:g} is beyond the range of actuator {names[index[-1]]!r},"
            f" {low:g} to {high:g}; give a value within"
        )
