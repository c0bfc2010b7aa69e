"""Rows of a model's arrays, read on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np


def host(array: Any) -> np.ndarray:
    """Return the contents of an array; empty if the model does not have the array."""
    return np.zeros(0, dtype=int) if array is None else array.numpy()


def is_moved(model: newton.Model) -> np.ndarray:
    """Tell for each body whether forces move it. Users move kinematic bodies, which need no support by a solver."""
    return (host(model.body_flags) & int(newton.BodyFlags.KINEMATIC)) == 0


def differs(model: newton.Model, prefix: str, own: Any, names: Sequence[str]) -> np.ndarray:
    """Tell for each element of arrays whether a value is not the one that Newton gives by default."""
    return np.any([host(getattr(model, prefix + name)) != np.float32(getattr(own, name)) for name in names], axis=0)
