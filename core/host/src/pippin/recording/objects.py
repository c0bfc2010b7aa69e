"""Objects of matter by world, each as a whole: where it is, how large, and how fast."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.matter import Matter
from pippin.state.spreads import Spread

_ARRAYS = {
    "centroid": ("_places", "mean"),
    "extent": ("_places", "extent"),
    "largest_speed": ("_motions", "largest_length"),
}


class ObjectTable:
    """Mean position, extent and largest speed of each object of matter in some worlds, which have the same objects.

    `positions` and `velocities` are those of all particles; or, for cables, poses and velocities of all bodies.
    """

    def __init__(
        self, model: newton.Model, matter: Matter, worlds: np.ndarray, positions: wp.array, velocities: wp.array
    ) -> None:
        rows, here = matter.row_of, worlds.tolist()
        self._labels = [label for label, world in rows if world == here[0]]
        self._count = len(worlds)
        groups = matter.elements(np.array([rows[label, world] for label in self._labels for world in here], dtype=int))
        self._sources = positions, velocities
        self._places, self._motions = (Spread(groups, model) for _ in range(2))

    def of(self, name: str, label: str) -> wp.array:
        """Return a quantity of an object, shape [worlds]."""
        spread, array = _ARRAYS[name]
        values: Any = getattr(getattr(self, spread), array)
        first = self._labels.index(label) * self._count
        return values[first : first + self._count]

    def update(self) -> None:
        """Measure the objects."""
        for spread, source in zip((self._places, self._motions), self._sources, strict=True):
            spread.measure(source)
