"""The exact result of a run, and a comparison of two results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import warp as wp

_NOISE_FACTOR = 10.0
"""Largest distance between a replay and an eager run, in units of the distance between two eager runs."""


class StateRecord:
    """The contents of some arrays, and the Python values of some objects, such as counters.

    Args:
        arrays: The arrays, by name; their contents are copied.
        counts: Python values, by the name of the object and of its attribute.
    """

    def __init__(self, arrays: Mapping[str, wp.array], counts: Mapping[str, Mapping[str, Any]]) -> None:
        #: Contents of the arrays, by name, each with the shape of its array.
        self.arrays: dict[str, np.ndarray] = {}
        for name, array in arrays.items():
            values = array.numpy()
            # NumPy's own copy does not set the bytes between the fields of a struct.
            self.arrays[name] = np.ndarray(values.shape, values.dtype, values.tobytes())
        #: Python values, by owner and attribute.
        self.counts: dict[str, dict[str, Any]] = {owner: dict(values) for owner, values in counts.items()}

    def __eq__(self, other: object) -> bool:
        """Compare every bit: a NaN equals the same NaN."""
        return isinstance(other, StateRecord) and self.difference(other) is None

    __hash__ = None  # pyright: ignore[reportAssignmentType] (contents are compared, not hashed)

    def difference(self, other: StateRecord, noise: StateRecord | None = None) -> str | None:
        """Return a description of the first difference between `other` and this record, or None.

        Args:
            other: The record of the same steps, run in another way.
            noise: The record of the same steps, run in the same way again. If even this record differs, since a GPU
                runs atomic additions in any order, `other` may differ ten times as much.
        """
        for owner, values in self.counts.items():
            for name, value in values.items():
                if not _is_same(other.counts.get(owner, {}).get(name), value):
                    return f"leaves {name!r} of {owner} as it was, which Python code changes in every eager step"
        for name, array in self.arrays.items():
            replayed = other.arrays.get(name)
            if replayed is None or replayed.tobytes() != array.tobytes():
                if noise is not None and replayed is not None and _is_noise(array, replayed, noise.arrays.get(name)):
                    continue
                return f"differs from eager steps in {name}"
        return None


def _is_same(left: Any, right: Any) -> bool:
    """Tell whether two Python scalars are equal; two NaNs count as equal."""
    return left == right or (left != left and right != right)


def _is_noise(eager: np.ndarray, replayed: np.ndarray, again: np.ndarray | None) -> bool:
    """Tell whether a replay differs from an eager run about as much as a second eager run does."""
    if again is None or eager.dtype.kind != "f":
        return False
    spread = np.abs(again - eager).max(initial=0.0)
    return bool(np.abs(replayed - eager).max(initial=0.0) <= _NOISE_FACTOR * spread)
