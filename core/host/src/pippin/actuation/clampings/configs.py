"""Settings of Newton's clampings, limits on the effort of actuators.

Other packages register their own clampings in the group of entry points `pippin.clampings`.
"""

from __future__ import annotations

import itertools
import math

import attrs
from pippin import FilePath
from pippin.actuation import Parameter, parameter


@attrs.frozen(kw_only=True)
class MaxEffortConfig:
    """Applied effort is limited to ±`max_effort`."""

    implementation = ".limits:MaxEffortClamping"

    max_effort: Parameter = parameter(minimum=0.0)
    """Largest magnitude [N or N·m], for all joints or by pattern."""


@attrs.frozen(kw_only=True, slots=False)  # a motor's configuration inherits this class and an actuator's
class DCMotorConfig:
    """Limits of a DC motor: the effort falls with the speed, down to braking beyond the no-load speed.

    With v limited to ±`velocity_limit` (1 + `max_motor_effort` / `saturation_effort`), the effort lies between
    max(`saturation_effort` (-1 - v / `velocity_limit`), -`max_motor_effort`) and
    min(`saturation_effort` (1 - v / `velocity_limit`), `max_motor_effort`).
    """

    implementation = ".limits:DCMotorClamping"
    limits_joint_speed = False  # `velocity_limit` is the speed without load

    saturation_effort: Parameter = parameter(minimum=0.0)
    """Effort at rest without the limit `max_motor_effort` [N or N·m], for all joints or by pattern."""

    velocity_limit: Parameter = parameter(above=0.0)
    """Speed at which the forward effort is zero [m/s or rad/s], for all joints or by pattern."""

    max_motor_effort: Parameter | None = parameter(minimum=0.0, default=None)
    """Largest effort [N or N·m], for all joints or by pattern; by default only the speed limits the effort."""


@attrs.frozen(kw_only=True)
class PositionBasedConfig:
    """Applied effort is limited to ± a value that depends on the joint's position: linear between the given points.

    Give the points here, or in a file with two columns, position and effort. A third column between them, a
    transmission ratio, is not used. Before the first point and after the last one, the effort of that point holds.
    """

    implementation = ".limits:PositionBasedClamping"

    lookup_positions: tuple[float, ...] = ()
    """Positions [m or rad], non-decreasing."""

    lookup_efforts: tuple[float, ...] = ()
    """Largest magnitude at each position [N or N·m]."""

    lookup_table: FilePath | None = None
    """A text file with the points, instead: spaces or commas separate the columns, and `#` begins a comment."""

    def __attrs_post_init__(self) -> None:
        if self.lookup_table is not None:
            if self.lookup_positions or self.lookup_efforts:
                raise ValueError(
                    "'lookup_table' given beside 'lookup_positions' or 'lookup_efforts'; keep one or the other"
                )
            return
        refuse_points(self.lookup_positions, self.lookup_efforts)


def refuse_points(positions: tuple[float, ...], efforts: tuple[float, ...]) -> None:
    """Refuse points of a lookup that are not a table of limits."""
    if not positions or len(positions) != len(efforts):
        raise ValueError(
            "'lookup_positions' and 'lookup_efforts' must be of one length and not empty:"
            f" {len(positions)} and {len(efforts)}"
        )
    if any(after < before for before, after in itertools.pairwise(positions)):
        raise ValueError(f"'lookup_positions' must not descend: {list(positions)}")
    if not all(map(math.isfinite, positions)) or not all(math.isfinite(each) and each >= 0.0 for each in efforts):
        raise ValueError("'lookup_positions' must be finite, 'lookup_efforts' finite and >= 0")
