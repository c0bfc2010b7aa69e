"""Rotations of joints as Newton and as MuJoCo write them, of all worlds in a handful of NumPy calls.

Turning a fixed frame into another is linear in a quaternion, and a rotation matrix is quadratic in it. Both are
written as matrices once, at build, so that a step multiplies instead of going through quaternions term by term:
NumPy's price is the call, not the arithmetic. Worlds are the last axis, along which NumPy is fastest.
"""

from __future__ import annotations

import numpy as np

__all__ = ["JointRotations", "LinearMap", "turned", "turned_back"]

_X, _Y, _Z, _W = range(4)


def _product_tensor() -> np.ndarray:
    """Return H with (p q)_i = Σ_jk H_ijk p_j q_k for quaternions xyzw."""
    tensor = np.zeros((4, 4, 4))
    tensor[_W, _W, _W] = 1.0
    for a, b, c in ((_X, _Y, _Z), (_Y, _Z, _X), (_Z, _X, _Y)):
        tensor[a, a, _W] = tensor[a, _W, a] = 1.0
        tensor[a, b, c], tensor[a, c, b] = 1.0, -1.0
        tensor[_W, a, a] = -1.0
    return tensor


_PRODUCT = _product_tensor()
_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])
_TURN = np.einsum("amn,mib,n->abin", _PRODUCT[:3], _PRODUCT[:, :, :3], _CONJUGATE)
"""R(q)_ab = Σ_ij T_abij q_i q_j: the vector part of q v q⁻¹."""
_FROM_WXYZ = np.eye(4)[[1, 2, 3, 0]]
"""The matrix that writes MuJoCo's wxyz as xyzw."""


class JointRotations:
    """Joints whose rotation is, in Newton, r = p⁻¹ u c: of the body's rotation u in MuJoCo and two fixed ones.

    Args:
        parent: The fixed rotations p, xyzw, shape [joints, worlds, 4].
        child: The fixed rotations c, likewise.
    """

    def __init__(self, parent: np.ndarray, child: np.ndarray) -> None:
        fixed = np.einsum("abij,...i,...j->...ab", _TURN, parent, parent)
        before = np.einsum("ijk,...j->...ik", _PRODUCT, parent * _CONJUGATE)
        after = np.einsum("ijk,...k->...ij", _PRODUCT, child)
        turn = np.einsum("...ca,cbij,ik,jl->...abkl", fixed, _TURN, _FROM_WXYZ, _FROM_WXYZ)
        rotation = before @ after @ _FROM_WXYZ
        self.to_newton = LinearMap(rotation)
        """Makes r, xyzw, of MuJoCo's rotation u, wxyz."""
        self.to_mujoco = LinearMap(rotation.swapaxes(-1, -2))
        """Makes u, wxyz, of Newton's rotation r, xyzw."""
        self.to_parent = LinearMap(fixed.swapaxes(-1, -2))
        """Turns a vector from the world, or from the frame a ball joint rests in, into the parent anchor."""
        self.from_parent = LinearMap(fixed)
        """Turns it back."""
        self._turn = LinearMap(turn.reshape(*turn.shape[:2], 9, 16))

    def matrix(self, u: np.ndarray) -> np.ndarray:
        """Return what turns vectors from the body into the parent anchor, shape [joints, 3, 3, worlds]."""
        joint_count, _, world_count = u.shape
        squares = (u[:, :, None] * u[:, None]).reshape(joint_count, 16, world_count)
        return self._turn(squares).reshape(joint_count, 3, 3, world_count)


class LinearMap:
    """Matrices to multiply vectors by: one per joint where all worlds have the same, else one per joint and world.

    Args:
        matrices: Shape [joints, worlds, m, n].
    """

    def __init__(self, matrices: np.ndarray) -> None:
        self._is_shared = bool((matrices == matrices[:, :1]).all())
        self._matrices = matrices[:, 0] if self._is_shared else np.moveaxis(matrices, 1, -1)

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Return each matrix times its vector, shape [joints, m, worlds], of vectors [joints, n, worlds]."""
        return self._matrices @ vectors if self._is_shared else turned(self._matrices, vectors)


def turned(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return each matrix, shape [joints, m, n, worlds], times its vector, shape [joints, n, worlds]."""
    return (matrices * vectors[:, None]).sum(2)


def turned_back(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return each matrix, transposed, times its vector."""
    return (matrices * vectors[:, :, None]).sum(1)
