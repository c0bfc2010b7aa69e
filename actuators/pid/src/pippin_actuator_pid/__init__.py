"""Proportional-integral-derivative joint control, as a Pippin actuator."""

from __future__ import annotations

import attrs
from pippin.actuation import ActuatorConfig, Parameter, parameter

__all__ = ["PIDConfig"]


@attrs.frozen(kw_only=True)
class PIDConfig(ActuatorConfig):
    """PD and an integral that removes the error at rest: effort = c + f + kp (q* - q) + ki I + kd (q̇* - q̇).

    c is `const_effort`, f the feedforward, q and q̇ position and velocity; the stars mark targets. In each physics step
    of length h, I grows by (q* - q) h before it acts, and is limited to ±`integral_max`.
    """

    implementation = ".actuator:ActuatorPID"

    kp: Parameter = parameter(minimum=0.0, default=0.0)
    """Proportional gain [N/m or N·m/rad], for all joints or by pattern."""

    ki: Parameter = parameter(minimum=0.0, default=0.0)
    """Integral gain [N/(m·s) or N·m/(rad·s)], for all joints or by pattern."""

    kd: Parameter = parameter(minimum=0.0, default=0.0)
    """Derivative gain [N·s/m or N·m·s/rad], for all joints or by pattern."""

    integral_max: Parameter | None = parameter(minimum=0.0, default=None)
    """Largest magnitude of the integral itself, not of its effort [m·s or rad·s], likewise; by default no limit."""

    const_effort: Parameter = parameter(default=0.0)
    """Effort that is always added [N or N·m], for all joints or by pattern."""
