"""One image of a world from a given position."""

from __future__ import annotations

import math
from collections.abc import Sequence

import newton
import numpy as np

from .cameras import look_at
from .renderer import Renderer
from .tiles import tiles


def render_image(
    model: newton.Model,
    state: newton.State,
    eye: Sequence[float] | np.ndarray,
    target: Sequence[float] | np.ndarray,
    size: tuple[int, int],
    fov: float,
) -> np.ndarray:
    """Return the image of a camera in the first world, shape [height, width, 3], from 0 to 255.

    Args:
        model: The model.
        state: The state.
        eye: Position of the camera [m].
        target: Point in the middle of the image [m].
        size: Width and height [pixels].
        fov: Angle from the upper to the lower edge of the image [rad].
    """
    scale = math.dist(eye, target) * math.sin(fov / 2.0)
    renderer = Renderer(model, np.zeros(1, dtype=int), tiles(1, size), fov, scale)
    return renderer.render(state, look_at(np.array(eye), np.array(target))[None]).copy()
