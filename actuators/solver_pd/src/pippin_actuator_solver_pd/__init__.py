"""The solver's own joint drives, as a Pippin actuator: the solver computes the effort within its step."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from pippin.actuation import (
    JointConfig,
    Parameter,
    parameter,
)

__all__ = ["SolverPDConfig"]


@attrs.frozen(kw_only=True)
class SolverPDConfig(JointConfig):
    """A spring and a damper in the solver: effort = clamp(kp (q* - q) + kd (q̇* - q̇), ±`effort_limit`) + feedforward.

    The solver evaluates this law in every substep, if possible at the end of the substep, so that stiff gains stay
    stable.
    """

    implementation = ".actuator:ActuatorSolverPD"

    kp: Parameter = parameter(minimum=0.0)
    """Proportional gain [N/m or N·m/rad], for all joints or by pattern."""

    kd: Parameter = parameter(minimum=0.0)
    """Derivative gain [N·s/m or N·m·s/rad], for all joints or by pattern."""

    effort_limit: float | Mapping[str, float] | None = parameter(above=0.0, default=None)
    """Largest effort of spring and damper [N or N·m], for all joints or by pattern; by default the asset's."""

    velocity_limit: float | Mapping[str, float] | None = parameter(above=0.0, default=None)
    """Largest joint velocity [m/s or rad/s], for all joints or by pattern; by default the asset's."""
