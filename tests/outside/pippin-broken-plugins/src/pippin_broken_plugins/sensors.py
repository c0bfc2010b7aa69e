"""Sensors that break a promise."""

from typing import Any

import attrs
import newton
import pippin
from pippin_sensor_imu import IMUConfig
from pippin_sensor_imu.sensor import SensorIMU

__all__ = ["Braking", "Dead", "Unitless"]


@attrs.frozen(kw_only=True)
class UnitlessConfig(IMUConfig):
    """Settings of `Unitless`."""

    implementation = "Unitless"


class Unitless(SensorIMU):
    """Does not say what its numbers stand for."""

    @pippin.hookimpl
    def bind(self, binding: pippin.Binding) -> None:
        super().bind(binding)
        self.outputs = {name: attrs.evolve(output, unit="") for name, output in self.outputs.items()}


@attrs.frozen(kw_only=True)
class DeadConfig(IMUConfig):
    """Settings of `Dead`."""

    implementation = "Dead"


class Dead(SensorIMU):
    """Measures nothing."""

    @pippin.hookimpl
    def update_sensors(self) -> None:
        """Do nothing."""


@attrs.frozen(kw_only=True)
class BrakingConfig(IMUConfig):
    """Settings of `Braking`."""

    implementation = "Braking"


class Braking(SensorIMU):
    """Stops what it measures."""

    @pippin.hookimpl
    def update_sensors(self, state: newton.State, contacts: Any, observables: Any, dt: float) -> None:
        super().update_sensors(state, contacts, observables, dt)
        state.body_qd.zero_()
