"""Sensors: what is measured of the state, what happens to it, and how often."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pippin.errors import ConfigError
from pippin.hookspecs import hookimpl
from pippin.spelling import did_you_mean

from .output import Output

if TYPE_CHECKING:
    import newton
    import warp as wp
    from pippin.binding import Binding

    from .config import SensorConfig

__all__ = ["Sensor"]


class Sensor(abc.ABC):
    """A sensor of bodies, joints or shapes in every world. A plugin adds `Config`, `build_outputs` and `measure`.

    `outputs` are valid after each step and after a reset. One that needs observables of the solver cannot be measured
    without a step: a reset sets it to zero. The others are measured anew.

    Args:
        config: The plugin's configuration.
    """

    Config: ClassVar[type[SensorConfig]]
    observables: frozenset[str] = frozenset()

    outputs: Mapping[str, Output]
    """What is measured, by name; known after `bind`."""

    worlds: np.ndarray
    """The worlds that hold what is measured, ascending: those of the outputs' first axis; known after `bind`."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def build_outputs(self, binding: Binding) -> Mapping[str, Output]:
        """Return what is measured, by name, in arrays of shape [worlds, elements] that `measure` fills."""

    @abc.abstractmethod
    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Fill the outputs from what is current. May be recorded; reads no array on the host.

        Args:
            state: The state after the last substep.
            contacts: What was detected in it; None where the solver keeps contacts to itself, and after a reset.
            observables: What the solver reports of the last substep; None after a reset.
            dt: Time since the last reading [s]; zero after a reset.
        """

    def memory(self) -> Mapping[str, wp.array]:
        """Return what is remembered from reading to reading besides the outputs, a row or more for each world.

        A reset puts the rows of its worlds back to what they are after `bind`.
        """
        return {}

    @property
    def is_geometric(self) -> bool:
        """Whether the state alone says what is measured, so that it can be measured without a step.

        A sensor of which that holds in part may say yes: what it then leaves alone keeps the zeros of the reset.
        """
        return not self.observables

    @property
    def intervals(self) -> wp.array:
        """Time from what came before, reading or reset, to the one that `measure` takes [s], shape [len(worlds)].

        On the device: it differs from `dt` in worlds that were reset since the last reading.
        """
        return self._readings.intervals

    @property
    def period(self) -> float | None:
        """Time from one reading to the next [s]; None where each control step has one."""
        return self.config.period

    @property
    def times(self) -> np.ndarray:
        """When each of `worlds` was measured last, or cleared by a reset [s], shape [len(worlds)]. Reads the device."""
        return self._readings.times()

    def __getitem__(self, name: str) -> wp.array:
        """Return the latest values of an output: its `data`."""
        if name not in self.outputs:
            hint = did_you_mean(name, self.outputs) or ";"
            raise ConfigError(f"{name!r} is no output{hint} outputs: {', '.join(self.outputs)}")
        return self.outputs[name].data

    @hookimpl
    def bind(self, binding: Binding) -> None:
        """Allocate the outputs for all worlds that hold what is measured."""
        from .readings import Readings

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
        """Measure the masked worlds where no step is needed for it; their values are zero else."""
        self._readings.reset(world_mask)
        if self.is_geometric:
            with self._readings.only(world_mask):
                self.measure(state, None, None, 0.0)
            self._readings.publish(world_mask, 0.0)

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return outputs and memory, which a reset puts back to what they are before the first step."""
        return {**self.memory(), **self._readings.arrays()}
