"""Recorder of a run's time series: a component like any other, which reads the simulation after every step.

Everything is written into arrays allocated before the first step. On the CPU the arrays of a simulation keep their
address, so a step costs one NumPy row assignment (0.2 µs) per series instead of one `numpy()` call (3 µs). On a CUDA
device the rows are copied on the device, without waiting for it, and read once at the end. The cost is so small that
throughput is measured with the recorder: with nine series, a captured step of nv_ant went from 65 to 73 µs at one
world, and stayed at 1.9 ms at 64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.axes import axis_labels
from pippin.binding import Host
from pippin.components.bound import Bound
from pippin.errors import ConfigError
from pippin.hookspecs import hookimpl
from pippin.indices import whole_number
from pippin.recording.series import Series

__all__ = ["Recorder"]

_ACTUATOR_UNITS = {
    "applied_effort": {"m": "N", "rad": "N·m"},
    "position_targets": {"m": "m", "rad": "rad"},
    "velocity_targets": {"m": "m/s", "rad": "rad/s"},
}
"""The series of an actuator, with their units by the unit of the joint's coordinate."""


class Recorder:
    """Keeps joint state, sensor outputs, applied efforts and targets of the first worlds after every control step.

    Pass the recorder as the last plugin: components that are bound after it are not recorded.

    Args:
        steps: Control steps to allocate memory for; later ones are not recorded.
        worlds: How many of the first worlds to record, at most all.

    Raises:
        ConfigError: One of them is not a whole number.
    """

    is_observer = True

    def __init__(self, steps: int, worlds: int = 1) -> None:
        self.worlds = whole_number(worlds, "recorder: worlds")
        #: Steps recorded so far.
        self.row_count = 0
        self._first_step = 1
        self._steps = whole_number(steps, "recorder: steps")
        self._channels: dict[str, _Channel] = {}

    @hookimpl
    def bind(self, simulation: Host) -> None:
        """Find the arrays to record, and allocate the rows.

        Raises:
            ConfigError: The first worlds have different contents, which one array cannot record.
        """
        self.worlds = min(self.worlds, simulation.world_count)
        _refuse_unlike(simulation.prototype_of_world[: self.worlds])
        self._control_dt = simulation.control_dt
        self._channels = dict(self._channels_of(simulation))

    @hookimpl
    def after_step(self, simulation: Host) -> None:
        """Write one row of every series."""
        if not self.row_count:
            self._first_step = simulation.step_count
        if self.row_count < self._steps:
            for channel in self._channels.values():
                channel.write(self.row_count)
            self.row_count += 1

    def series(self) -> dict[str, Series]:
        """Return the recorded series by name: `time`, `joint_q`, `sensors/torso/linear_acceleration` and so on."""
        time = (self._first_step + np.arange(self.row_count)) * self._control_dt
        recorded = {name: channel.series(self.row_count) for name, channel in self._channels.items()}
        return {"time": Series(values=time, units=("s",)), **recorded}

    def _channels_of(self, simulation: Host) -> Iterator[tuple[str, _Channel]]:
        """Yield a channel for each series, by name."""
        if not self.worlds:
            return
        coordinates = list(_joint_entries(simulation.model, has_quaternions=True))
        dofs = [(label, f"{unit}/s") for label, unit in _joint_entries(simulation.model, has_quaternions=False)]
        for name, entries in (("joint_q", coordinates), ("joint_qd", dofs)):
            if entries:
                labels, units = zip(*entries, strict=True)
                yield name, _Channel(self._joint_state(simulation, name, len(entries)), labels, units, self._steps)
        for label, actuator in _of_first_world(simulation.actuators):
            joints = tuple(actuator.joint_labels)
            for name, unit_of in _ACTUATOR_UNITS.items():
                if (array := getattr(actuator, name)) is not None:
                    units = tuple(unit_of[dict(coordinates)[joint]] for joint in joints)
                    yield f"actuators/{label}/{name}", _Channel(array[: self.worlds], joints, units, self._steps)
            inputs: Any = actuator.ctrl
            if inputs is not None:
                names = tuple(actuator.actuator_labels)
                units = ("1",) * len(names)
                yield f"actuators/{label}/ctrl", _Channel(inputs[: self.worlds], names, units, self._steps)
        for label, sensor in _of_first_world(simulation.sensors):
            for name, output in sensor.outputs.items():
                yield f"sensors/{label}/{name}", _Channel(output.data[: self.worlds], (), (output.unit,), self._steps)

    def _joint_state(self, simulation: Host, name: str, size: int) -> wp.array:
        """Return the part of `joint_q` or `joint_qd` that belongs to the recorded worlds, shape [worlds, size]."""
        starts = "joint_coord_world_start" if name == "joint_q" else "joint_dof_world_start"
        first = int(getattr(simulation.model, starts).numpy()[0])
        return getattr(simulation.state, name)[first : first + self.worlds * size].reshape((self.worlds, size))


def _refuse_unlike(prototypes: np.ndarray) -> None:
    others = np.flatnonzero(prototypes != prototypes[:1])
    if len(others):
        raise ConfigError(
            f"recorder: asked for {len(prototypes)} worlds, but world {others[0]} holds something else than world 0;"
            f" record at most {others[0]}"
        )


def _of_first_world(components: Mapping[str, Any]) -> Iterator[tuple[str, Bound]]:
    """Yield label and component of those that are in the first world, and so in all recorded worlds."""
    for label, component in components.items():
        bound = Bound(component, label)
        if bound.worlds is None or 0 in bound.worlds:
            yield label, bound


class _Channel:
    """An array, and memory for one copy of it per step."""

    def __init__(self, source: wp.array, labels: tuple[str, ...], units: tuple[str, ...], steps: int) -> None:
        self._rows = wp.zeros((steps, source.size), dtype=source.dtype, device=source.device)
        self._shape, self._labels, self._units = source.shape, labels, units
        self.write = _row_writer(self._rows, source)

    def series(self, count: int) -> Series:
        rows = self._rows.numpy()[:count]
        values = rows.reshape((count, *self._shape, *rows.shape[2:]))
        return Series(values=values, labels=self._labels, units=self._units)


def _row_writer(rows: wp.array, source: wp.array) -> Callable[[int], None]:
    if rows.device.is_cpu:  # pyright: ignore[reportOptionalMemberAccess] (an allocated array has a device)
        view = source.numpy()
        target = rows.numpy().reshape((len(rows), *view.shape))

        def write(row: int) -> None:
            target[row] = view

        return write
    flat = source.flatten()
    return lambda row: wp.copy(rows, flat, dest_offset=row * flat.size, count=flat.size)


def _joint_entries(model: newton.Model, *, has_quaternions: bool) -> Iterator[tuple[str, str]]:
    """Yield label and unit of each joint coordinate of one world; without quaternions, of each DOF."""
    coordinate_counts, dof_counts = np.diff(on_host(model.joint_q_start)), np.diff(on_host(model.joint_qd_start))
    for joint in range(*on_host(model.joint_world_start)[:2]):
        linear, angular = on_host(model.joint_dof_dim)[joint]  # pyright: ignore[reportArgumentType] (a 2-D array)
        is_quaternion = coordinate_counts[joint] > dof_counts[joint]
        units = ["m"] * linear + (["1"] * 4 if is_quaternion and has_quaternions else ["rad"] * angular)
        is_by_dof = len(units) == dof_counts[joint]
        label = model.joint_label[joint]
        labels = axis_labels(model, [joint]) if is_by_dof else [f"{label}:{index}" for index in range(len(units))]
        yield from zip(labels, units, strict=True)
