"""Configurations of commands."""

from __future__ import annotations

import math
from typing import Any, Literal

import attrs
from attrs.validators import ge, optional
from pippin import FilePath
from pippin.validators import fraction, non_negative, only_where, ordered, positive

from pippin_task import CommandConfig

Range = tuple[float, float]


@attrs.frozen(kw_only=True)
class VelocityConfig(CommandConfig):
    """A target velocity of a body: forward, to the left, and about the vertical.

    With a heading, the yaw rate turns the body towards it: yaw rate = stiffness × angle to the heading, within `yaw`.
    """

    implementation = ".terms:Velocity"

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

    heading_share: float = attrs.field(
        default=1.0,
        validator=[fraction, only_where(lambda own: own.heading_stiffness is not None, "`heading_stiffness`")],
    )
    """Probability that a command has a heading; the others keep the yaw rate that was drawn."""

    straight: float = attrs.field(default=0.0, validator=fraction)
    """Probability of a command straight ahead: the size of the speed along x, no speed to the side, and no turn."""

    least_straight: float = attrs.field(
        default=0.0, validator=[non_negative, only_where(lambda own: own.straight > 0.0, "`straight`")]
    )
    """Least speed of a command straight ahead [m/s]; slower ones are raised to it."""

    standing: float = attrs.field(default=0.0, validator=fraction)
    """Probability of a standing command, whatever else is drawn."""

    body: str | None = None
    """Pattern of the name of the body whose x axis is the heading; by default the first body of a world."""


@attrs.frozen(kw_only=True)
class PoseCommandConfig(CommandConfig):
    """A target pose, such as of a tool or an object. It is turned about x, then y, then z.

    The numbers are in the frame of the quantity that has the command as its target, such as `relative-position`.
    """

    implementation = ".terms:PoseCommand"

    x: Range = attrs.field(default=(0.0, 0.0), validator=ordered)
    """Range of the position along x [m]."""

    y: Range = attrs.field(default=(0.0, 0.0), validator=ordered)
    """Range of the position along y [m]."""

    z: Range = attrs.field(default=(0.0, 0.0), validator=ordered)
    """Range of the position along z [m]."""

    roll: Range = attrs.field(default=(0.0, 0.0), validator=ordered)
    """Range of the turn about x [rad]."""

    pitch: Range = attrs.field(default=(0.0, 0.0), validator=ordered)
    """Range of the turn about y [rad]."""

    yaw: Range = attrs.field(default=(0.0, 0.0), validator=ordered)
    """Range of the turn about z [rad]."""


def _is_absent(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    if value is not None:
        raise ValueError(f"'{attribute.name}' has no use: a motion lasts until the episode ends; leave it out")


@attrs.frozen(kw_only=True)
class MotionCommandConfig(CommandConfig):
    """A recorded motion, which each world follows frame by frame from the one that its episode starts with.

    With `adaptive`, starts are where episodes fail. The motion is divided into bins. In each control step, the failures
    of a bin become memory × its new terminations + (1 - memory) × failures. A bin is drawn in proportion to its
    failures + uniform / number of bins, and a frame of it evenly. Worlds of one process share the bins; other processes
    have their own.
    """

    implementation = ".terms:MotionCommand"

    path: FilePath
    """The clip, an npz file that `pippin motion convert` has written."""

    anchor: str | None = None
    """Pattern of the name of the body about which others are compared; by default the free body, or the first one."""

    start: Literal["adaptive", "uniform", "first"] = "adaptive"
    """Frame that an episode starts with: drawn where episodes fail, drawn evenly, or the first one."""

    bin: float = attrs.field(default=1.0, validator=positive)
    """Largest length of a bin [s]."""

    memory: float = attrs.field(default=0.001, validator=fraction)
    """Share of the failures of the last control step in those of a bin."""

    uniform: float = attrs.field(default=0.1, validator=positive)
    """Weight of all bins together that does not depend on failures."""

    reach: int = attrs.field(default=1, validator=ge(1))
    """Number of bins whose failures count for a bin: its own, and those after it."""

    decay: float = attrs.field(default=0.8, validator=non_negative)
    """Factor of the failures of each further bin."""

    period: tuple[float, float] | None = attrs.field(default=None, validator=_is_absent)
    """Not for a motion, which lasts until the episode ends."""
