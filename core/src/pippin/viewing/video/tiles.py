"""Tiles: the positions of several images in one."""

from __future__ import annotations

import math

import attrs
import numpy as np

_GAP = 2
"""Pixels between two tiles."""

_ASPECT = 4.0 / 3.0
"""Width of a tile by its height that is liked best."""


@attrs.frozen(eq=False)
class Tiles:
    """Tiles of equal size in an image."""

    size: tuple[int, int]
    """Width and height of the image [pixels]."""

    width: int
    """Width of a tile [pixels]."""

    height: int
    """Height of a tile [pixels]."""

    corners: np.ndarray
    """Row and column of the upper left pixel of each tile, shape [tiles, 2]."""


def tiles(count: int, size: tuple[int, int]) -> Tiles:
    """Return the largest tiles of a number that fit into an image of a width and height [pixels]."""
    width, height = size
    columns = max(range(1, count + 1), key=lambda n: min(width / n, height / math.ceil(count / n) * _ASPECT))
    rows = math.ceil(count / columns)
    across, down = (width - _GAP * (columns - 1)) // columns, (height - _GAP * (rows - 1)) // rows
    index = np.arange(count)
    corners = np.stack([index // columns * (down + _GAP), index % columns * (across + _GAP)], axis=1)
    return Tiles(size=size, width=across, height=down, corners=corners)
