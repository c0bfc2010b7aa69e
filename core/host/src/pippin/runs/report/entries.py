"""Entries of a recorded series: their names, and functions that pick them from the values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from pippin.recording.series import Series

_COMPONENTS = {3: ("x", "y", "z"), 4: ("x", "y", "z", "w"), 7: ("px", "py", "pz", "qx", "qy", "qz", "qw")}
"""Names of the components of vectors, quaternions and poses, by their number."""

Pick: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""Returns the lines of a block, shape [rows, worlds, lines], given the values of all entries."""


def entries(title: str, series: Series) -> Iterator[tuple[str, Sequence[str], Pick]]:
    """Yield a note, the names of the lines, and a function that picks them, for each chart of a series.

    Several vectors give their lengths; several places [m], quaternions or poses give a chart for each component.
    """
    shape = series.shape[2:]
    components = _components(series, shape)
    owners = _names(series.labels, shape[: len(shape) - bool(components)])
    if not components:
        yield "", owners if len(owners) > 1 or series.labels else (title,), _flat
    elif len(owners) == 1:
        yield "", components, _flat
    elif len(components) == 3 and "m" not in series.units:
        yield "length", owners, _lengths
    else:
        for index, component in enumerate(components):
            yield component, owners, partial(_component, index)


def _components(series: Series, shape: Sequence[int]) -> tuple[str, ...]:
    """Return the names of the components of vectors, quaternions or poses; none for plain numbers."""
    if series.components or len(shape) < 2 or series.frame == "none":
        return series.components
    return _COMPONENTS.get(shape[-1], ())


def _names(labels: Sequence[str], shape: Sequence[int]) -> Sequence[str]:
    """Return a name for each entry: a label if all entries or those of the first axis have labels, else an index."""
    if len(labels) == math.prod(shape):
        return labels
    if labels and len(labels) == shape[0]:
        return [f"{label} {index}" for label in labels for index in _names((), shape[1:])]
    sizes = [size for size in shape if size > 1] or [1]  # an axis of length 1 needs no index
    return [", ".join(map(str, index)) for index in np.ndindex(*sizes)]


def _component(index: int, block: np.ndarray) -> np.ndarray:
    return _flat(block[..., index])


def _flat(block: np.ndarray) -> np.ndarray:
    return block.reshape(*block.shape[:2], -1)


def _lengths(block: np.ndarray) -> np.ndarray:
    return _flat(np.linalg.norm(block, axis=-1))
