"""Proportional-derivative joint control, as a Pippin actuator."""

from __future__ import annotations

import attrs
from pippin.actuation import ActuatorConfig, Parameter, parameter

__all__ = ["PDConfig"]


@attrs.frozen(kw_only=True)
class PDConfig(ActuatorConfig):
    """A spring and a damper between joint and target: effort = c + f + kp (q* - q) + kd (q̇* - q̇).

    c is `const_effort`, f the feedforward, q and q̇ position and velocity; the stars mark targets. Angles do not wrap.
    """

    implementation = ".actuator:ActuatorPD"

    kp: Parameter = parameter(minimum=0.0, default=0.0)
    """Proportional gain [N/m or N·m/rad], for all joints or by pattern."""

    kd: Parameter = parameter(minimum=0.0, default=0.0)
    """Derivative gain [N·s/m or N·m·s/rad], for all joints or by pattern."""

    const_effort: Parameter = parameter(default=0.0)
    """Effort that is always added [N or N·m], for all joints or by pattern."""
