"""The base class of sensors: outputs that are measured from the state, changed by stages, once per period."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.binding import Binding
from pippin.errors import ConfigError
from pippin.hookspecs import hookimpl
from pippin.spelling import did_you_mean

from .readings import Output, Readings


class Sensor(abc.ABC):
    """A sensor of bodies, joints or shapes in every world. A plugin adds `build_outputs` and `measure`.

    `outputs` are valid after each step and after a reset. A reset measures the outputs anew, if this needs no step, or
    else sets them to zero: outputs from observables of the solver need a step.

    Args:
        config: The plugin's configuration.
    """

    observables: frozenset[str] = frozenset()
    """Quantities of the solver that the sensor reads."""

    outputs: Mapping[str, Output]
    """The outputs by name; known after `bind`."""

    worlds: np.ndarray
    """The worlds that contain measured elements, ascending, as on the outputs' first axis, shape [worlds]; known after
    `bind`."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def build_outputs(self, binding: Binding) -> Mapping[str, Output]:
        """Return the outputs by name, with arrays of shape [worlds, elements] that `measure` fills."""

    @abc.abstractmethod
    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Fill the outputs from the current state. May be recorded; reads no array on the host.

        Args:
            state: The state after the last substep.
            contacts: The contacts of the last detection; None if the solver keeps them to itself, and after a reset.
            observables: The solver's reports of the last substep; None after a reset.
            dt: Time since the last reading [s]; zero after a reset.
        """

    def memory(self) -> Mapping[str, wp.array]:
        """Return the arrays that last from reading to reading besides the outputs, with one or more rows per world.

        The first axis has the shape [worlds × n]. A reset restores the rows of its worlds to their values after `bind`.
        """
        return {}

    @property
    def is_geometric(self) -> bool:
        """Whether the state alone determines the outputs, so that they can be measured without a step.

        A sensor may answer True if this holds for some outputs: an output that `measure` then skips stays zero.
        """
        return not self.observables

    @property
    def measured_worlds(self) -> wp.array[wp.bool]:
        """Mask of the worlds that `measure` must fill, shape [world_count + 1]: all, or those that are reset.

        A sensor may measure the others, too, which keep their outputs; one that costs much skips them. The array is on
        the device, and not the same in a reset and in a step: `measure` passes on what this property returns then.
        """
        return self._readings.asked

    @property
    def intervals(self) -> wp.array:
        """Time from the last reading or reset to the reading that `measure` takes [s], shape [len(worlds)].

        The array is on the device. It differs from `dt` in worlds that were reset since the last reading.
        """
        return self._readings.intervals

    @property
    def period(self) -> float | None:
        """Time from one reading to the next [s]; None if every control step has a reading."""
        return self.config.period

    @property
    def times(self) -> np.ndarray:
        """Time of the last reading or reset of each of `worlds` [s], shape [len(worlds)]. Reads the device."""
        return self._readings.times()

    def __getitem__(self, name: str) -> wp.array:
        """Return the latest values of an output: its `data`."""
        if name not in self.outputs:
            hint = did_you_mean(name, self.outputs) or ";"
            raise ConfigError(f"{name!r} is not an output{hint} outputs: {', '.join(self.outputs)}")
        return self.outputs[name].data

    @hookimpl
    def bind(self, binding: Binding) -> None:
        """Allocate the outputs for all worlds that contain measured elements."""
        self.worlds = binding.worlds
        measured = self.build_outputs(binding)
        self._readings = Readings(self.config, measured, binding, self.memory() if self.is_geometric else None)
        self.outputs = self._readings.outputs
        if self.is_geometric:
            self.measure(binding.simulation.state, None, None, 0.0)
            self._readings.publish_everywhere(0.0)

    @hookimpl
    def update_sensors(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Measure, and let the stages change the values. May be recorded."""
        self.measure(state, contacts, observables, dt)
        self._readings.publish_everywhere(dt)

    @hookimpl
    def reset_worlds(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Measure the masked worlds if this needs no step; otherwise their values are zero."""
        self._readings.reset(world_mask)
        if self.is_geometric:
            with self._readings.only(world_mask):
                self.measure(state, None, None, 0.0)
            self._readings.publish(world_mask, 0.0)

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return outputs and memory, each with its shape; a reset restores their values before the first step."""
        return {**self.memory(), **self._readings.arrays()}
