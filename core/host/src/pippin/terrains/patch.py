"""The base of kinds of patches: the ground of one patch, the keys that all have, and the base class."""

from __future__ import annotations

import abc
from typing import Any

import attrs
import numpy as np
from pippin.validators import non_negative

THICKNESS = 1.0
"""Least thickness of the ground [m]: what is pushed into it comes out upwards."""


@attrs.frozen(kw_only=True)
class Block:
    """A block of ground with a flat top. It reaches down to the bottom of its patch."""

    size: tuple[float, float]
    """Lengths along its own x and y [m]."""

    top: float
    """Height of its top [m]."""

    centre: tuple[float, float] = (0.0, 0.0)
    """Position of its middle in the patch [m]."""

    yaw: float = 0.0
    """Turn about the vertical [rad]."""


@attrs.frozen(kw_only=True, eq=False)
class Ground:
    """The ground of one patch: blocks, heights on a grid, or both. Where both are, the higher one counts."""

    blocks: tuple[Block, ...] = ()
    """Blocks; they may overlap."""

    heights: np.ndarray | None = None
    """Heights at evenly spaced points from edge to edge [m], shape [rows, columns]: at least 2 rows along y, and 2
    columns along x."""

    spawn: tuple[float, float] = (0.0, 0.0)
    """Place in the patch at which worlds start [m]. The host finds the height."""

    @property
    def bottom(self) -> float:
        """Height of the bottom of all blocks [m]."""
        lowest = [block.top for block in self.blocks]
        if self.heights is not None:
            lowest.append(float(self.heights.min()))
        return min(0.0, *lowest) - THICKNESS

    def height(self, x: Any, y: Any, size: tuple[float, float]) -> np.ndarray:
        """Return the height of the ground at points of the patch [m], and -inf outside of it.

        Between the points of the grid, the height is interpolated along x and along y; the triangles of a solver differ
        from this by at most a part of the step between neighbours.

        Args:
            x: Positions along x [m], of any shape.
            y: Positions along y [m], of the same shape.
            size: Lengths of the patch along x and y [m].
        """
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        found = np.full(x.shape, -np.inf)
        for block in self.blocks:
            found = np.where(_covers(block, x, y), np.maximum(found, block.top), found)
        if self.heights is not None:
            found = np.maximum(found, _interpolated(self.heights, x / size[0] + 0.5, y / size[1] + 0.5))
        return found


def _covers(block: Block, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return whether a block is below some points of the patch [m]."""
    away = x - block.centre[0], y - block.centre[1]
    along = np.cos(block.yaw) * away[0] + np.sin(block.yaw) * away[1]
    across = np.cos(block.yaw) * away[1] - np.sin(block.yaw) * away[0]
    return (2.0 * np.abs(along) <= block.size[0]) & (2.0 * np.abs(across) <= block.size[1])


def _interpolated(heights: np.ndarray, along_x: np.ndarray, along_y: np.ndarray) -> np.ndarray:
    rows, columns = heights.shape
    across, up = np.clip(along_x, 0.0, 1.0) * (columns - 1), np.clip(along_y, 0.0, 1.0) * (rows - 1)
    column, row = np.minimum(across.astype(int), columns - 2), np.minimum(up.astype(int), rows - 2)
    part_x, part_y = across - column, up - row
    below = heights[row, column] * (1.0 - part_x) + heights[row, column + 1] * part_x
    above = heights[row + 1, column] * (1.0 - part_x) + heights[row + 1, column + 1] * part_x
    return below * (1.0 - part_y) + above * part_y


@attrs.frozen(kw_only=True)
class PatchConfig:
    """The keys of every table of `[scene.terrain.patches]`. A plugin's settings derive from this class."""

    share: float = attrs.field(default=1.0, validator=non_negative)
    """Part of the worlds that start on these patches, beside the shares of the others."""


class Patch(abc.ABC):
    """A kind of patches. A plugin adds `ground`.

    Args:
        config: The table of the patches, a `PatchConfig`.
    """

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def ground(self, size: tuple[float, float], difficulty: float, random: np.random.Generator) -> Ground:
        """Return the ground of one patch, in a frame with its origin in the middle of the patch and z up.

        The ground around is at height zero. Equal arguments give equal ground.

        Args:
            size: Lengths of the patch along x and y [m].
            difficulty: A number from 0, the easiest patch, to 1.
            random: The only source of random numbers.

        Raises:
            pippin.ConfigError: The keys do not fit the size. The error begins with the key; the host puts the place of
                the table in front.
        """
