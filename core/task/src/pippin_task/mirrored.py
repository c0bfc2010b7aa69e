"""Columns of observations and actions in a mirror."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np


@attrs.frozen(eq=False)
class MirroredColumns:
    """Numbers side by side in a mirror: number `i` is number `index[i]` times `sign[i]`."""

    index: np.ndarray
    """Shape [numbers]."""
    sign: np.ndarray
    """1 or -1, shape [numbers]."""


@attrs.frozen(eq=False)
class MirroredTask:
    """The observations by group, and the action, in a mirror."""

    groups: Mapping[str, MirroredColumns]
    action: MirroredColumns
