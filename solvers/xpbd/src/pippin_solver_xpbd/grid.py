"""A search grid without particles, over which no particle has a neighbour."""

from __future__ import annotations

from typing import Any

import warp as wp

__all__ = ["EmptyGrid"]


class EmptyGrid(wp.HashGrid):
    """A grid that is never built: kernels that order their threads by its cells return at once.

    Args:
        device: Device of the kernels.
    """

    def __init__(self, device: Any) -> None:
        super().__init__(1, 1, 1, device=device)

    def reserve(self, num_points: int, with_groups: bool = False) -> None:
        """Allocate nothing."""

    def build(self, points: wp.array, radius: float, groups: wp.array | None = None) -> None:
        """Leave the particles out."""
