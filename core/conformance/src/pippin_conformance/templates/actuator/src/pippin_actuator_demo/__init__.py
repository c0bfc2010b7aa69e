"""A servo whose effort approaches its limit softly, as a Pippin actuator: the settings."""

import attrs
from pippin.actuation import ActuatorConfig, Parameter, parameter


@attrs.frozen(kw_only=True)
class DemoConfig(ActuatorConfig):
    """PD control whose effort bends towards a limit: τ = `max_effort` tanh((kp (q* − q) − kd q̇) / `max_effort`)."""

    implementation = ".actuator:ActuatorDemo"

    kp: Parameter = parameter(minimum=0.0)
    """Stiffness [N/m or N·m/rad], for all joints or by pattern."""

    kd: Parameter = parameter(minimum=0.0)
    """Damping [N·s/m or N·m·s/rad], for all joints or by pattern."""

    max_effort: Parameter = parameter(minimum=1e-6)
    """Limit of the effort, approached but never reached [N or N·m], for all joints or by pattern."""
