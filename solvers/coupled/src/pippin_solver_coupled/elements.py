"""Springs, triangles, edges and tetrahedra of an entry: those between its own particles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import newton
import numpy as np
import warp as wp

_OF = newton.Model.AttributeFrequency
_KINDS = (
    (_OF.SPRING, "spring_indices", "spring_count"),
    (_OF.TRIANGLE, "tri_indices", "tri_count"),
    (_OF.EDGE, "edge_indices", "edge_count"),
    (_OF.TETRAHEDRON, "tet_indices", "tet_count"),
)


def keep_elements_of(particles: np.ndarray, model: newton.Model) -> Callable[[Any], None]:
    """Return what takes the elements of other entries out of an entry's view of the model.

    Newton leaves all elements in each view with particles. So the springs of a cloth would act twice if its particles
    stand in another entry as proxies: once by each solver.

    Args:
        particles: Particles of the entry, shape [particles].
        model: The whole model.
    """
    is_own = np.zeros(model.particle_count + 1, dtype=bool)
    is_own[particles] = True
    is_own[-1] = True  # an edge at the border has no particle there, -1

    def configure(view: Any) -> None:
        for frequency, indices, count in _KINDS:
            if not getattr(view, count):
                continue
            ends = getattr(model, indices).numpy().reshape(getattr(model, count), -1)
            rows = np.flatnonzero(is_own[ends].all(axis=1))
            if len(rows) < len(ends):
                for name in _attributes(model, frequency):
                    setattr(view, name, _chosen(getattr(view, name), rows, len(ends)))
                setattr(view, count, len(rows))

    return configure


def _attributes(model: newton.Model, frequency: Any) -> Iterator[str]:
    """Yield the attributes of a kind of elements that the model has."""
    for name, each in model.attribute_frequency.items():
        if each == frequency and getattr(model, name, None) is not None:
            yield name


def _chosen(values: wp.array, rows: np.ndarray, count: int) -> wp.array:
    """Return the values of some elements; springs have both ends in one row after the other."""
    width = len(values) // count
    chosen = (rows[:, None] * width + np.arange(width)).ravel()
    return wp.array(values.numpy()[chosen], dtype=values.dtype, device=values.device)
