"""Sensors that break a promise."""

from typing import Any

import attrs
import newton
import pippin
from pippin_sensor_imu import SensorIMU

__all__ = ["Braking", "Dead", "Unitless"]


class Unitless(SensorIMU):
    """Does not say what its numbers stand for."""

    @pippin.hookimpl
    def bind(self, binding: pippin.Binding) -> None:
        super().bind(binding)
        self.outputs = {name: attrs.evolve(output, unit="") for name, output in self.outputs.items()}


class Dead(SensorIMU):
    """Measures nothing."""

    @pippin.hookimpl
    def update_sensors(self) -> None:
        """Do nothing."""


class Braking(SensorIMU):
    """Stops what it measures."""

    @pippin.hookimpl
    def update_sensors(self, state: newton.State, contacts: Any, observables: Any, dt: float) -> None:
        super().update_sensors(state, contacts, observables, dt)
        state.body_qd.zero_()
