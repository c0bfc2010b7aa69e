"""Spreads: means, bounds, lengths and shares in a box of vectors, over groups of particles or bodies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import newton
import numpy as np
import warp as wp

from .kernels import SPREAD, Parts, join_spreads


class Spread:
    """Mean, lowest and highest coordinates, and lengths of a vector over groups of elements, by sums in a fixed order.

    Args:
        groups: Particle or body of each place in each group, shape [groups, longest], padded with -1; none is empty.
        model: The model of all worlds.
        box: Lowest and highest coordinates of a box, both of shape [3]: `inside` counts what is in it; by default all.
    """

    def __init__(self, groups: np.ndarray, model: newton.Model, box: Sequence[Sequence[float]] | None = None) -> None:
        device, count = model.device, len(groups)
        self._groups = wp.array(groups, dtype=int, ndim=2, device=device)
        self._counts = wp.array((groups >= 0).sum(axis=1), dtype=int, device=device)
        self._width = max(1, math.isqrt(groups.shape[1]))
        self._low, self._high = (wp.vec3(*end) for end in box or ((-math.inf,) * 3, (math.inf,) * 3))
        shape = (count, -(-groups.shape[1] // self._width))
        self._parts = Parts()
        for name in ("sums", "lows", "highs"):
            setattr(self._parts, name, wp.zeros(shape, dtype=wp.vec3, device=device))
        for name in ("lengths", "longest", "inside"):
            setattr(self._parts, name, wp.zeros(shape, dtype=float, device=device))
        #: Mean of each group, shape [groups].
        self.mean: wp.array[wp.vec3] = wp.zeros(count, dtype=wp.vec3, device=device)
        #: Lowest and highest coordinates of each group, shape [groups, 2].
        self.bounds: wp.array = wp.zeros((count, 2), dtype=wp.vec3, device=device)
        #: Highest less lowest coordinates of each group, shape [groups].
        self.extent: wp.array[wp.vec3] = wp.zeros(count, dtype=wp.vec3, device=device)
        #: Mean length of the vectors of each group, shape [groups].
        self.mean_length: wp.array[wp.float32] = wp.zeros(count, dtype=float, device=device)
        #: Largest length of a vector of each group, shape [groups].
        self.largest_length: wp.array[wp.float32] = wp.zeros(count, dtype=float, device=device)
        #: Share of each group that is in the box, from 0 to 1, shape [groups].
        self.inside: wp.array[wp.float32] = wp.zeros(count, dtype=float, device=device)

    def measure(self, source: wp.array) -> None:
        """Measure the groups. May be recorded.

        Args:
            source: Positions or velocities of all particles [m or m/s], or poses or velocities of all bodies.
        """
        shape, device = self._parts.sums.shape, self._counts.device
        inputs = [source, self._groups, self._width, self._low, self._high, self._parts]
        wp.launch(SPREAD[source.dtype], shape, inputs, device=device)
        outputs = [self.mean, self.bounds, self.extent, self.mean_length, self.largest_length, self.inside]
        wp.launch(join_spreads, shape[0], [self._counts, self._parts, *outputs], device=device)
