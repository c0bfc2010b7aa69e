"""Spreads: mean, lowest and highest coordinates of positions or velocities over groups of particles or bodies."""

from __future__ import annotations

import math

import newton
import numpy as np
import warp as wp

from .kernels import SPREAD, join_spreads


class Spread:
    """Mean, lowest and highest coordinates of a vector over groups of elements, by sums in a fixed order.

    Args:
        groups: Particle or body of each place in each group, shape [groups, longest], padded with -1; none is empty.
        model: The model of all worlds.
    """

    def __init__(self, groups: np.ndarray, model: newton.Model) -> None:
        device, count = model.device, len(groups)
        self._groups = wp.array(groups, dtype=int, ndim=2, device=device)
        self._counts = wp.array((groups >= 0).sum(axis=1), dtype=int, device=device)
        self._width = max(1, math.isqrt(groups.shape[1]))
        shape = (count, -(-groups.shape[1] // self._width))
        self._parts = [wp.zeros(shape, dtype=wp.vec3, device=device) for _ in range(3)]
        #: Mean of each group, shape [groups].
        self.mean: wp.array[wp.vec3] = wp.zeros(count, dtype=wp.vec3, device=device)
        #: Lowest and highest coordinates of each group, shape [groups, 2].
        self.bounds: wp.array = wp.zeros((count, 2), dtype=wp.vec3, device=device)

    def measure(self, source: wp.array) -> None:
        """Measure the groups, into `mean` and `bounds`. May be recorded.

        Args:
            source: Positions or velocities of all particles [m or m/s], or poses or velocities of all bodies.
        """
        shape, device = self._parts[0].shape, self._counts.device
        wp.launch(SPREAD[source.dtype], shape, [source, self._groups, self._width, *self._parts], device=device)
        inputs = [self._counts, *self._parts, self.mean, self.bounds]
        wp.launch(join_spreads, shape[0], inputs, device=device)
