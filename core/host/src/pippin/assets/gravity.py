"""Gravity of a scene from the files of its assets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.assets.untyped import mujoco
from pippin.errors import ConfigError

from .formats import FORMATS
from .report import Imported

EARTH = (0.0, 0.0, -9.81)
"""Gravity without any statement [m/s²]."""

_OFF = int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)


def common_gravity(imports: Sequence[Imported]) -> tuple[float, float, float]:
    """Return the gravity that the assets state [m/s²]; the usual one states nothing."""
    stated = {each.asset.where: gravity for each in imports if (gravity := _gravity_of(each)) != EARTH}
    if len(set(stated.values())) > 1:
        listed = ", ".join(f"{list(gravity)} in {where}" for where, gravity in stated.items())
        raise ConfigError(f"scene.gravity: the assets state different gravities, {listed}; set scene.gravity")
    return next(iter(stated.values()), EARTH)


def _gravity_of(imported: Imported) -> tuple[float, float, float]:
    """Return the gravity of one asset, in the frame of the scene."""
    if imported.normal is not None:
        option = imported.normal.model.opt
        gravity = np.zeros(3) if option.disableflags & _OFF else np.array(option.gravity)
        up = imported.asset.config.up_axis
        if up is not None:
            turn: Any = newton.math.quat_between_axes(newton.Axis[up.upper()], newton.Axis.Z)
            vector: Any = wp.vec3(*gravity)
            gravity = np.array(wp.quat_rotate(turn, vector))
    elif imported.asset.format is FORMATS["usd"] or imported.asset.format.importer is not None:
        gravity = np.array(imported.part.gravity)
    else:
        return EARTH
    x, y, z = (round(float(value), 6) + 0.0 for value in gravity)
    return x, y, z
