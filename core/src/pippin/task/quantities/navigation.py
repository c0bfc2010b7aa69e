"""Quantities of ways: the speed over ground, the direction to a point, and the progress towards it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from .rates import Rate
from .roots import OfRoot, RootConfig

if TYPE_CHECKING:
    import newton
    import warp as wp

__all__ = ["DisplacementRate", "HeadingTo", "Progress"]


def _is_a_point(instance: Any, attribute: attrs.Attribute[Any], value: tuple[float, ...]) -> None:
    if len(value) not in (2, 3):
        raise ValueError(f"'target' must be a point of 2 or 3 numbers, got {len(value)}")


@attrs.frozen(kw_only=True)
class HeadingToConfig(RootConfig):
    """The direction from a body to a point."""

    target: tuple[float, float]
    """Point in the world, x and y [m]."""


@attrs.frozen(kw_only=True)
class ProgressConfig(RootConfig):
    """The progress of a body towards a point."""

    target: tuple[float, ...] = attrs.field(validator=_is_a_point)
    """Point in the world [m]: x and y for the distance seen from above, or x, y and z."""


class DisplacementRate(Rate, OfRoot):
    """The quantity `displacement-rate`: (p − p before) / control_dt, with p the position of the body's origin."""

    Config: ClassVar[type] = RootConfig
    unit = "m/s"

    def read(self, state: newton.State, out: wp.array) -> None:
        """Write p."""
        import warp as wp

        from .kernels import read_positions

        bodies = self._bodies.reshape((len(out), 1))
        wp.launch(read_positions, bodies.shape, [state.body_q, bodies, out], device=out.device)


class HeadingTo(OfRoot):
    """The quantity `heading-to`: cosine and sine of the angle from the body's heading to a point, seen from above."""

    Config: ClassVar[type] = HeadingToConfig
    unit = "1"
    columns = ("cos", "sin")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write cosine and sine."""
        import warp as wp

        from .kernels import read_heading_to

        self._launch(read_heading_to, out, state.body_q, self._bodies, wp.vec2(*self.config.target))


class Progress(Rate, OfRoot):
    """The quantity `progress`: −(distance to a point − distance before) / control_dt, with the body's origin."""

    Config: ClassVar[type] = ProgressConfig
    unit = "m/s"
    columns = ("progress",)

    def read(self, state: newton.State, out: wp.array) -> None:
        """Write minus the distance."""
        import warp as wp

        from .kernels import read_nearness

        x, y, *z = self.config.target
        self._launch(read_nearness, out, state.body_q, self._bodies, wp.vec3(x, y, *z or [0.0]), int(not z))
