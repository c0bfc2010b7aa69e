"""Configurations of commands."""

from __future__ import annotations

import math

import attrs
from attrs.validators import optional
from pippin.task import CommandConfig
from pippin.validators import fraction, ordered, positive

Range = tuple[float, float]


@attrs.frozen(kw_only=True)
class VelocityConfig(CommandConfig):
    """A target velocity of a body: forward, to the left, and about the vertical.

    With a heading, the yaw rate turns the body towards it: yaw rate = stiffness × angle to the heading, within `yaw`.
    """

    implementation = ".velocity:Velocity"

    x: Range = attrs.field(default=(0.0, 0.0), validator=ordered)
    """Range of the forward speed [m/s]."""

    y: Range = attrs.field(default=(0.0, 0.0), validator=ordered)
    """Range of the speed to the left [m/s]."""

    yaw: Range = attrs.field(default=(0.0, 0.0), validator=ordered)
    """Range of the yaw rate [rad/s]."""

    heading: Range = attrs.field(default=(-math.pi, math.pi), validator=ordered)
    """Range of the heading [rad], if `heading_stiffness` is given."""

    heading_stiffness: float | None = attrs.field(default=None, validator=optional(positive))
    """Yaw rate for each radian from the heading [1/s]; by default there is no heading, and the yaw rate is drawn."""

    standing: float = attrs.field(default=0.0, validator=fraction)
    """Probability of a standing command."""

    body: str | None = None
    """Pattern of the name of the body whose x axis is the heading; by default the first body of a world."""
