"""Configurations of terminations."""

from __future__ import annotations

from typing import Annotated

import attrs
from pippin import ComponentConfig
from pippin.validators import non_negative, only_where, range_ends

from pippin_task import TerminationConfig


@attrs.frozen(kw_only=True)
class ContactTerminationConfig(TerminationConfig):
    """The end of an episode if a body touches something."""

    implementation = ".terms:ContactTermination"

    sensor: str
    """Label of a contact sensor, which must be in all worlds."""

    threshold: float = attrs.field(default=1.0, validator=non_negative)
    """Net force above which a body of the sensor ends the episode [N]."""

    history: bool = False
    """Whether the largest force of the sensor's `history` counts, instead of the last one."""

    partners: bool = attrs.field(default=False, validator=only_where(lambda own: not own.history, "no `history`"))
    """Whether a body counts by the largest force from one of the sensor's `partners`, instead of by its net force."""


@attrs.frozen(kw_only=True)
class RangeTerminationConfig(TerminationConfig):
    """The end of an episode if any number of a quantity leaves a range."""

    implementation = ".terms:RangeTermination"

    of: Annotated[ComponentConfig, "quantity"]
    """The quantity: its name, or a table with its `type` and its keys."""

    axes: str | None = None
    """Components of a vector that count: some of `x`, `y`, `z`."""

    low: float | None = None
    """Lower bound, in the unit of the quantity; the episode ends below it."""

    high: float | None = None
    """Upper bound; the episode ends above it."""

    def __attrs_post_init__(self) -> None:
        range_ends(self.low, self.high)


@attrs.frozen(kw_only=True)
class OutOfBoundsConfig(TerminationConfig):
    """The end of an episode if a body leaves the patches of the terrain. By default it truncates, since a robot that
    has walked so far has done nothing wrong.
    """

    implementation = ".terms:OutOfBounds"

    truncates: bool = True
    """Whether the end counts as that of the time."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""

    margin: float = attrs.field(default=0.3, validator=non_negative)
    """Distance from the edge of all patches at which the episode ends [m]."""


@attrs.frozen(kw_only=True)
class MotionEndConfig(TerminationConfig):
    """The end of an episode if its motion is over. By default it truncates: nothing went wrong."""

    implementation = ".terms:MotionEnd"

    truncates: bool = True
    """Whether the end counts as that of the time."""

    command: str
    """Label of the command `motion`, whose clip is no loop."""
