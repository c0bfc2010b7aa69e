"""Arrays that users write in place, which take values of their own shape alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import warp as wp
from pippin.errors import ConfigError


class ShapedArray(wp.array):
    """A Warp array that refuses values of another shape: Warp would copy them as far as they go.

    One with a single axis takes as many numbers in any shape.
    """

    @classmethod
    def name(cls, array: Any, place: str) -> None:
        """Let an array be of this class, with a name for errors."""
        array.__class__, array.place = cls, place

    def assign(self, src: Any) -> None:
        """Copy values, in an array of any kind, into the array."""
        own, given = (*self.shape, *getattr(self.dtype, "_shape_", ())), np.shape(src)
        if given not in (self.shape, own) and (self.ndim > 1 or math.prod(given) != math.prod(own)):
            raise ConfigError(
                f"{vars(self)['place']}: expected shape {list(own)}, got {list(given)}; reshape the values, or repeat"
                " them for every world"
            )
        super().assign(src)
