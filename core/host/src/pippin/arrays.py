"""Access to Newton's arrays: for a type checker most may be None, but a finalized model has those that it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np

__all__ = ["on_host", "present"]

T = TypeVar("T")


def present(array: T | None) -> T:
    """Return an array that a finalized model is known to have."""
    assert array is not None, "a finalized model allocates what it counts"
    return array


def on_host(array: Any) -> np.ndarray:
    """Return the contents of an array of Warp that a finalized model is known to have; on the CPU without a copy.

    The shape is that of the array.
    """
    return present(array).numpy()
