"""Places of the numbers of a view as an argument of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from .kernels.places import Places
from .rules import LARGEST, Rule

__all__ = ["places_of"]


def places_of(
    index: np.ndarray, device: wp.Device, rule: Rule | None = None, quaternion: np.ndarray | None = None
) -> Any:
    """Return the places of numbers in one of Newton's arrays, a `kernels.places.Places`.

    Args:
        index: Element of Newton's array of each row and column, shape [rows, columns], padded with -1.
        device: Device of the kernels.
        rule: The numbers that are allowed.
        quaternion: Position of each element in its quaternion, -1 if it is in none, same shape as the index.
    """
    places: Any = Places()
    places.index = wp.array(index.ravel(), dtype=int, device=device)
    places.width = index.shape[1]
    places.low, places.high = (-LARGEST, LARGEST) if rule is None else (rule.low, rule.high)
    if quaternion is not None:
        places.quaternion = wp.array(quaternion.ravel(), dtype=int, device=device)
    return places
