"""Inertia tensors: the nearest one that a rigid body can have."""

from __future__ import annotations

import math

import numpy as np

MARGIN = 1e-5
"""Least second moment in a principal direction, relative to the trace; a solver in single precision needs it."""

LEAST = 1e-10
"""Least second moment [kg·m²]; to a body below it, Newton would add 1e-6 kg·m² instead."""

ROUNDING = 1e-4
"""Relative change of an inertia up to which it is still what the file says."""

WATER = 1000.0
"""Density of the sphere that stands for a body without a given inertia [kg/m³]."""


def principal(tensor: np.ndarray) -> np.ndarray:
    """Return the principal moments of inertia [kg·m²] in ascending order."""
    return np.linalg.eigvalsh(tensor)


def repaired(tensor: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the nearest inertia of a body whose density is not negative, and whether it differs by more than rounding.

    The second moment of the mass along a principal axis is half the trace less the moment of inertia about the axis. It
    is negative exactly if A + B < C, and then becomes zero: the largest moment C stays, A and B grow until their sum
    is C.

    Args:
        tensor: Symmetric tensor about the centre of mass [kg·m²], shape [3, 3], not all zero.
    """
    moments, axes = np.linalg.eigh(tensor)
    extents = moments.sum() / 2.0 - moments
    largest = float(np.abs(moments).max())
    least = max(LEAST, MARGIN * largest)
    if (extents >= least).all():
        return tensor, False
    raised = np.maximum(extents, least)
    return axes @ np.diag(raised.sum() - raised) @ axes.T, bool((raised - extents > ROUNDING * largest).any())


def of_sphere(mass: float) -> np.ndarray:
    """Return the inertia of a solid sphere of water [kg·m²], shape [3, 3], or the least one if it is smaller."""
    radius = (3.0 * mass / (4.0 * math.pi * WATER)) ** (1.0 / 3.0)
    return np.eye(3) * max(0.4 * mass * radius**2, 2.0 * LEAST)
