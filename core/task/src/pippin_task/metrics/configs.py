"""Configurations of metrics."""

from __future__ import annotations

from typing import Annotated

import attrs
from pippin import ComponentConfig
from pippin.validators import finite, non_negative


@attrs.frozen(kw_only=True)
class QuantityMetricConfig:
    """Settings of a metric over x, the numbers of a quantity minus a target."""

    of: Annotated[ComponentConfig, "quantity"]
    """The quantity: its name, or a table with its `type` and its keys."""

    axes: str | None = None
    """Components of a vector that count: some of `x`, `y`, `z`."""

    target: float | tuple[float, ...] | str | None = attrs.field(default=None, validator=finite)
    """Target that is subtracted first: a number, one for each component, or the label of a command, whose numbers
    belong to the axes in order."""


@attrs.frozen(kw_only=True)
class MeanConfig(QuantityMetricConfig):
    """The mean size of x over the control steps of an episode."""

    implementation = ".metrics:Mean"


@attrs.frozen(kw_only=True)
class WithinConfig(QuantityMetricConfig):
    """1 in worlds in which x is small, or was, else 0."""

    implementation = ".metrics:Within"

    limit: float = attrs.field(validator=non_negative)
    """Largest size of x, the square root of the sum of its squares, in the unit of the quantity."""

    hold: float = attrs.field(default=0.0, validator=non_negative)
    """Time for which x must stay small before it counts [s]; a part of a control step counts as one."""

    latch: bool = True
    """Whether it counts for the rest of the episode once it has; without, the end of the episode decides."""
