"""What a run left behind, to the bit, and how two runs differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import warp as wp

__all__ = ["Outcome"]

_NOISE_FACTOR = 10.0
"""How far a replay may be from an eager run, in units of the distance between two eager runs."""


class Outcome:
    """The contents of some arrays, and what some objects count in Python.

    Args:
        arrays: The arrays, by name; their contents are copied.
        counts: Python values, by the name of the object and of its attribute.
    """

    def __init__(self, arrays: Mapping[str, wp.array], counts: Mapping[str, Mapping[str, Any]]) -> None:
        self.arrays = {name: _copy(array.numpy()) for name, array in arrays.items()}
        """Contents of the arrays."""
        self.counts = {owner: dict(values) for owner, values in counts.items()}
        """Python values, by owner and attribute."""

    def __eq__(self, other: object) -> bool:
        """Compare every bit: a NaN equals the same NaN."""
        return isinstance(other, Outcome) and self.difference(other) is None

    __hash__ = None  # pyright: ignore[reportAssignmentType] (contents are compared, not hashed)

    def difference(self, other: Outcome, noise: Outcome | None = None) -> str | None:
        """Say how `other` differs from this outcome, or None.

        Args:
            other: The outcome of the same steps, run in another way.
            noise: The outcome of the same steps, run in the same way again. Where even that differs, as it does
                where atomic operations add in any order on a GPU, `other` may be ten times as far away.
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


def _copy(array: np.ndarray) -> np.ndarray:
    """Copy every byte. NumPy's own copy leaves those between the fields of a struct as they happen to be."""
    return np.ndarray(array.shape, array.dtype, array.tobytes())


def _is_same(left: Any, right: Any) -> bool:
    """Tell whether two Python scalars are equal; a NaN, which equals nothing, is the same as another one."""
    return left == right or (left != left and right != right)


def _is_noise(eager: np.ndarray, replayed: np.ndarray, again: np.ndarray | None) -> bool:
    """Tell whether a replay is about as far from an eager run as a second eager run is."""
    if again is None or eager.dtype.kind != "f":
        return False
    spread = np.abs(again - eager).max(initial=0.0)
    return bool(np.abs(replayed - eager).max(initial=0.0) <= _NOISE_FACTOR * spread)
