"""Contacts with next to no sliding friction, which MuJoCo's pyramids and implicit integrators would throw away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco as _mujoco
import newton
import numpy as np

from . import MuJoCoNativeConfig

__all__ = ["LEAST_FRICTION", "can_throw", "leave_out_friction", "throws"]

LEAST_FRICTION = 2e-3
"""Sliding friction below which a pyramid's forces are too inexact for an implicit integrator."""

_MUJOCO: Any = _mujoco
"""MuJoCo; most of it is an extension without type stubs."""

_PYRAMIDAL = int(_MUJOCO.mjtCone.mjCONE_PYRAMIDAL)
_EXPLICIT = (int(_MUJOCO.mjtIntegrator.mjINT_EULER), int(_MUJOCO.mjtIntegrator.mjINT_RK4))
"""Integrators that take accelerations from the constraint solver; implicit ones compute them from its forces."""


def throws(model: Any) -> bool:
    """Tell whether a model of MuJoCo would throw away what has next to no friction."""
    return model.opt.cone == _PYRAMIDAL and model.opt.integrator not in _EXPLICIT


def can_throw(model: newton.Model, config: MuJoCoNativeConfig) -> bool:
    """Tell as `throws`, before the model is converted: a configuration comes before the file, and both before Newton's
    default, which is implicit.
    """
    own: Any = getattr(model, "mujoco", None)
    cone = config.cone or ("pyramidal" if own is None or own.cone.numpy()[0] == _PYRAMIDAL else "elliptic")
    integrator = config.integrator or ("" if own is None else ("euler", "rk4", "")[min(own.integrator.numpy()[0], 2)])
    return cone == "pyramidal" and integrator not in ("euler", "rk4")


def leave_out_friction(model: Any, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return dimensions and friction of the contacts of a model that throws; empty for another one.

    A contact with next to no sliding friction has none. Two shapes give a contact the larger friction and the larger
    dimension, so a shape with friction still has it.

    Args:
        model: MuJoCo's model, with the dimensions that were stated.
        values: Those that exist of `geom_friction`, shape [..., geoms, 3], and `pair_friction`, shape [..., pairs, 5].
    """
    found = {}
    for friction, (dimension, count) in _DIMENSIONS.items() if throws(model) else ():
        if friction in values:
            sliding = values[friction][..., :count]
            stated, most = getattr(model, dimension), sliding.max(axis=-1, initial=0.0)
            found[dimension] = np.where((stated == _SLIDING) & (most < LEAST_FRICTION), 1, stated)
            least = np.where(found[dimension][..., None] > 1, np.maximum(sliding, LEAST_FRICTION), sliding)
            found[friction] = np.concatenate([least, values[friction][..., count:]], axis=-1)
    return found


_SLIDING = 3
"""The dimension of contacts that resist sliding alone."""

_DIMENSIONS = {"geom_friction": ("geom_condim", 1), "pair_friction": ("pair_dim", 2)}
"""The dimension of each kind of friction, and in how many directions it slides."""
