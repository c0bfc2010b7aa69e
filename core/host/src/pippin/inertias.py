"""Matrices of inertia in NumPy: which ones a body can have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ROUNDING = 1e-6
"""Relative excess of a moment over the sum of the others that is rounding."""


def symmetric(numbers: Sequence[float]) -> np.ndarray:
    """Return a symmetric matrix, shape [3, 3], of its components xx, yy, zz, and perhaps xy, xz, yz."""
    x, y, z, xy, xz, yz = (*numbers, 0.0, 0.0, 0.0)[:6]
    return np.array([[x, xy, xz], [xy, y, yz], [xz, yz, z]])


def inertia_fault(matrix: np.ndarray) -> str | None:
    """Return what is wrong with an inertia about a centre of mass, or None.

    A body has positive principal moments, of which none is larger than the sum of the other two.
    """
    return moment_fault(np.linalg.eigvalsh(matrix).tolist())


def moment_fault(moments: Sequence[float]) -> str | None:
    """Return what is wrong with principal moments of inertia in ascending order, or None."""
    least, middle, largest = moments
    if not least > 0.0:
        return f"has the principal moment {least:g} kg·m², and those of a body are positive; correct the numbers"
    if largest > (least + middle) * (1.0 + ROUNDING):
        return (
            f"has the principal moments {least:g}, {middle:g} and {largest:g} kg·m², and no body has one that is larger"
            " than the sum of the others; correct the numbers"
        )
    return None
