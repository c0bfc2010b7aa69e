"""Configurations of metrics."""

from __future__ import annotations

from typing import Literal

import attrs
from pippin.validators import non_negative

from pippin_task.terms import DifferenceConfig


@attrs.frozen(kw_only=True)
class MeanConfig(DifferenceConfig):
    """The mean size of x over the control steps of an episode."""

    implementation = ".metrics:Mean"

    form: Literal["length", "mean-absolute"] = "length"
    """The size: the square root of the sum of x², or the mean of abs(x) over its components."""


@attrs.frozen(kw_only=True)
class WithinConfig(DifferenceConfig):
    """1 in worlds in which x is small, or was, else 0."""

    implementation = ".metrics:Within"

    limit: float = attrs.field(validator=non_negative)
    """Largest size of x, the square root of the sum of its squares, in the unit of the quantity."""

    hold: float = attrs.field(default=0.0, validator=non_negative)
    """Time for which x must stay small before it counts [s]; a part of a control step counts as one."""

    latch: bool = True
    """Whether it counts for the rest of the episode once it has; without, the end of the episode decides."""
