"""Contact forces on bodies or shapes, in total and by partner, and contact times, as a Pippin sensor."""

from __future__ import annotations

from typing import Any, Literal

import attrs
from attrs.validators import ge
from pippin import sensing
from pippin.validators import kept_readings, non_negative

__all__ = ["ContactConfig"]


def _one_of_two(instance: Any, attribute: Any, value: tuple[str, ...]) -> None:
    """Reject both and neither of `bodies` and `shapes`.

    Raises:
        ValueError: Both are given, or neither.
    """
    if bool(instance.bodies) == bool(instance.shapes):
        found = "both" if instance.bodies else "neither"
        raise ValueError(f"'bodies' or 'shapes' must say what is sensed, one of the two: got {found}")


def _needs_partners(instance: Any, attribute: Any, value: str) -> None:
    """Reject `"partners"` without any.

    Raises:
        ValueError: There are none.
    """
    if value == "partners" and not instance.partners:
        raise ValueError("'counted' = \"partners\" needs 'partners'; name them, or leave 'counted' out")


@attrs.frozen(kw_only=True)
class ContactConfig(sensing.SensorConfig):
    """Contact forces on bodies or shapes, also by partner, with contact times and a history."""

    implementation = ".sensor:SensorContact"

    bodies: tuple[str, ...] = attrs.field(default=(), validator=_one_of_two)
    """Full-match regular expressions of body names, or of whole labels if they contain a `/`: the sensed bodies."""

    shapes: tuple[str, ...] = ()
    """Full-match regular expressions of shape labels: the shapes that are sensed, in place of whole bodies."""

    partners: tuple[str, ...] = ()
    """Full-match regular expressions of body labels or, if one matches no body, of shape labels such as `ground_plane`:
    `force_matrix` gives the forces for each of these partners."""

    counted: Literal["all", "partners"] = attrs.field(default="all", validator=_needs_partners)
    """What the net force and contact count: everything that touches, or the `partners` alone."""

    threshold: float = attrs.field(default=1.0, validator=non_negative)
    """Net force above which there is contact [N]."""

    history: int = attrs.field(default=0, validator=[ge(0), kept_readings])
    """Number of readings of the net force that `net_force_history` keeps, and `force_matrix_history` by partner."""
