"""Values of a run under one name, sent from process to process for a comparison."""

from __future__ import annotations

import attrs
import numpy as np


@attrs.frozen(kw_only=True)
class ComparedValues:
    """Values of one run under one name, at one step."""

    time: float
    """Simulated time [s]."""

    array: np.ndarray | None
    """The values; None for Python values."""

    world_of_row: np.ndarray | None
    """The world of each row of the array; None if rows belong to no world."""
