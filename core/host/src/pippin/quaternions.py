"""Unit quaternions (x, y, z, w) in NumPy arrays: products, and rotated vectors."""

from __future__ import annotations

import numpy as np

__all__ = ["conjugate", "cross", "product", "rotated"]

_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return `first` × `second`, shape [..., 3]: the bits of `np.cross`, in a fifth of its time for a few vectors."""
    return first.take(_NEXT, -1) * second.take(_LAST, -1) - first.take(_LAST, -1) * second.take(_NEXT, -1)


def rotated(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return vectors rotated by unit quaternions, shape [..., 3].

    Args:
        quaternions: The rotations, shape [..., 4].
        vectors: The vectors, shape [..., 3].
    """
    axis, w = quaternions[..., :3], quaternions[..., 3:]
    across = 2.0 * cross(axis, vectors)
    return vectors + w * across + cross(axis, across)


def product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the rotations by `second` and then by `first`, shape [..., 4].

    Args:
        first: Unit quaternions, shape [..., 4].
        second: Unit quaternions, shape [..., 4].
    """
    (a, v), (b, u) = (first[..., 3:], first[..., :3]), (second[..., 3:], second[..., :3])
    vector = a * u + b * v + cross(v, u)
    return np.concatenate([vector, a * b - (v * u).sum(axis=-1, keepdims=True)], axis=-1)


def conjugate(quaternions: np.ndarray) -> np.ndarray:
    """Return the inverse rotations, shape [..., 4].

    Args:
        quaternions: Unit quaternions x y z w, shape [..., 4].
    """
    return quaternions * (-1.0, -1.0, -1.0, 1.0)


def matrix(quaternions: np.ndarray) -> np.ndarray:
    """Return rotation matrices, shape [..., 3, 3]; their columns are the turned axes."""
    return rotated(quaternions[..., None, :], np.eye(3)).swapaxes(-1, -2)


def from_mujoco(quaternions: np.ndarray) -> np.ndarray:
    """Return quaternions that MuJoCo stores, with w first, with w last, shape [..., 4]."""
    return np.roll(quaternions, -1, axis=-1)


def rotation_vectors(quaternions: np.ndarray) -> np.ndarray:
    """Return the rotation vectors of unit quaternions [rad], at most pi long, shape [..., 3]."""
    axis, w = quaternions[..., :3], quaternions[..., 3:]
    axis = np.where(w < 0.0, -axis, axis)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    return axis * np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 1e-12)


def from_rotation_vectors(vectors: np.ndarray) -> np.ndarray:
    """Return the unit quaternions of rotation vectors [rad], shape [..., 4]."""
    angle = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate([0.5 * np.sinc(angle / (2.0 * np.pi)) * vectors, np.cos(0.5 * angle)], axis=-1)
