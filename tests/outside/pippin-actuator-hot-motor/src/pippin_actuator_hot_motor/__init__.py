"""A servo with back-EMF and a winding that heats up, and a stop at full speed."""

import attrs
from pippin.actuation import ActuatorConfig, Parameter, parameter


@attrs.frozen(kw_only=True)
class HotMotorConfig(ActuatorConfig):
    """Voltage follows the target, current follows what back-EMF leaves of it, and copper resists more as it heats.

    u = kp (q* - q) - kd q̇, limited to ±`voltage`; i = (u - k q̇) / R; effort = k i; R = `resistance` (1 + 0.0039 ΔT).
    """

    implementation = ".actuator:HotMotor"

    kp: Parameter = parameter(minimum=0.0, default=0.0)
    """Proportional gain [V/rad]."""

    kd: Parameter = parameter(minimum=0.0, default=0.0)
    """Derivative gain [V·s/rad]."""

    voltage: Parameter = parameter(minimum=0.0)
    """Largest voltage [V]."""

    motor_constant: Parameter = parameter(above=0.0)
    """Torque per current, and back-EMF per speed: k [N·m/A = V·s/rad]."""

    resistance: Parameter = parameter(above=0.0)
    """Resistance of the winding at ambient temperature [Ω]."""

    heat_capacity: Parameter = parameter(above=0.0)
    """Heat that warms the winding by a kelvin [J/K]."""

    thermal_resistance: Parameter = parameter(above=0.0)
    """Kelvins per watt that flows off to the surroundings [K/W]."""


@attrs.frozen(kw_only=True)
class SpeedStopConfig:
    """Effort that would drive a joint beyond `max_speed` is cut off; effort that brakes is not."""

    implementation = ".actuator:SpeedStop"

    max_speed: Parameter = parameter(minimum=0.0)
    """Speed [rad/s]."""
