"""Reference motions of free bodies that turn, in double precision and by Euler's equations."""

from __future__ import annotations

import numpy as np
from pippin.quaternions import product

from .integrator import integrated


def rotation(moments: np.ndarray, velocity: np.ndarray, times: np.ndarray, step: float = 1e-3) -> np.ndarray:
    """Return the orientations of a free body that starts along the axes of the world, shape [times, 4] (x, y, z, w)."""

    def rates(state: np.ndarray) -> np.ndarray:
        turn, spin = state[:4], state[4:]
        own = 0.5 * product(turn, np.append(spin, 0.0))
        return np.concatenate([own, -np.cross(spin, moments * spin) / moments])

    return integrated(rates, np.array([0.0, 0.0, 0.0, 1.0, *velocity]), times, step)[:, :4]


def angle_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the angle between orientations [rad], shape [...], of quaternions of any length."""
    dot = (first * second).sum(axis=-1) / (np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1))
    return 2.0 * np.arccos(np.clip(np.abs(dot), 0.0, 1.0))
