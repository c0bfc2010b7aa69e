"""A position servo with a motor, a supply and the friction of its gears, as a Pippin actuator: the settings."""

from __future__ import annotations

from typing import Literal

import attrs
from pippin.actuation import ActuatorConfig, Parameter, parameter

from .friction_config import FrictionConfig
from .library import complete

__all__ = ["FrictionConfig", "ServoConfig", "SupplyConfig"]


@attrs.frozen(kw_only=True)
class SupplyConfig:
    """The supply that the servos of a world share: its voltage falls with the current of the last physics step."""

    resistance: Parameter = parameter(minimum=0.0)
    """Inner resistance [Ω], for all joints or by pattern."""

    minimum: Parameter = parameter(above=0.0)
    """Lowest voltage [V], likewise."""


@attrs.frozen(kw_only=True)
class ServoConfig(ActuatorConfig):  # pyright: ignore[reportIncompatibleVariableOverride]
    """A position servo: its firmware compares positions, its motor has a resistance, and its gears have friction.

    In the mode `voltage`, duty = `gain` `kp` (q* - q), limited to ±`max_duty`, and τ = kt (V duty - kt q̇) / R. In the
    mode `current`, i = `gain` `kp` (q* - q) - `damping_factor` √`kp` q̇, as far as the voltage reaches, and τ = kt i.
    `current_limit` limits the current in both. q is the position, and q* its target.
    """

    implementation = ".actuator:ActuatorServo"

    model: str | None = None
    """A servo of the library, whose values hold where the table gives none: `mx64`, `mx106`, `xl320`, `xl330`,
    `erob80_50`, `erob80_100` or `sts3215`."""

    mode: Literal["voltage", "current"] | None = None
    """What the firmware sets; by default that of `model`, else `voltage`."""

    kt: Parameter | None = parameter(default=None, above=0.0)
    """Torque constant at the joint, behind the gears [N·m/A], for all joints or by pattern."""

    resistance: Parameter | None = parameter(default=None, above=0.0)
    """Resistance R of the motor [Ω], for all joints or by pattern."""

    voltage: Parameter | None = parameter(default=None, above=0.0)
    """Voltage V of the supply [V], for all joints or by pattern."""

    gain: Parameter | None = parameter(minimum=0.0, default=None)
    """What the firmware makes of one radian at a `kp` of 1 [1/rad or A/rad], likewise; by default 1."""

    kp: Parameter | None = parameter(minimum=0.0, default=None)
    """Proportional gain as the firmware counts it, for all joints or by pattern."""

    damping_factor: Parameter | None = parameter(minimum=0.0, default=None)
    """Current per speed at a `kp` of 1 [A·s/rad], in the mode `current`; by default 0."""

    max_duty: Parameter | None = parameter(above=0.0, default=None)
    """Largest share of the voltage, for all joints or by pattern; by default 1."""

    current_limit: Parameter | None = parameter(above=0.0, default=None)
    """Largest current [A], for all joints or by pattern; by default none."""

    target_speed: Parameter | None = parameter(above=0.0, default=None)
    """Speed at which the firmware lets its target move [rad/s], for all joints or by pattern; by default any."""

    friction: FrictionConfig | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    """Friction of motor and gears, in place of the dry and viscous friction of the asset's joints; by default that of
    `model`, and none without a `model`."""

    supply: SupplyConfig | None = None
    """The supply that the servos of a world share; by default its voltage is constant."""

    def __attrs_post_init__(self) -> None:
        complete(self)
