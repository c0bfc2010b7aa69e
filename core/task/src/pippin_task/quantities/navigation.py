"""Quantities of navigation: the speed over ground, the direction to a point, and the progress towards it."""

from __future__ import annotations

import newton
import warp as wp

from .kernels import read_heading_to, read_nearness, read_positions
from .rates import Rate
from .roots import MassCentre, OfRoot


class DisplacementRate(Rate, OfRoot):
    """The quantity `displacement-rate`: (p − p before) / control_dt, with p the position of the body's origin."""

    unit = "m/s"

    def read(self, state: newton.State, out: wp.array) -> None:
        """Write p."""
        bodies = self._bodies.reshape((len(out), 1))
        wp.launch(read_positions, bodies.shape, [state.body_q, bodies, out], device=out.device)


class MassCentreRate(Rate, MassCentre):
    """The quantity `mass-centre-rate`: (p − p before) / control_dt, with p the centre of mass of the bodies."""

    unit = "m/s"
    is_differentiable = False

    def read(self, state: newton.State, out: wp.array) -> None:
        """Write p."""
        self._read(state, out)


class HeadingTo(OfRoot):
    """The quantity `heading-to`: cosine and sine of the angle from the body's heading to a point, seen from above."""

    unit = "1"
    labels = ("cos", "sin")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write cosine and sine."""
        self._launch(read_heading_to, out, state.body_q, self._bodies, wp.vec2(*self.config.target))


class ProgressRate(Rate, OfRoot):
    """The quantity `progress`: −(distance to a point − distance before) / control_dt, with the body's origin."""

    unit = "m/s"
    labels = ("progress",)

    def read(self, state: newton.State, out: wp.array) -> None:
        """Write minus the distance."""
        x, y, *z = self.config.target
        self._launch(read_nearness, out, state.body_q, self._bodies, wp.vec3(x, y, *z or [0.0]), int(not z))
