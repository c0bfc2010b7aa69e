"""The numbers of a model as it was built: MuJoCo's compiler refuses some that its steps take, such as equal limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import newton
import numpy as np
import warp as wp

__all__ = ["keep_numbers"]


def keep_numbers(model: newton.Model) -> Callable[[], AbstractContextManager[None]]:
    """Return a function that makes a context in which the model has its present numbers again.

    A closure holds the copies, so that a checkpoint does not find them: a resumed simulation builds the same model.
    """
    kept = [(values, values.copy()) for array in _arrays(model) if (values := np.asarray(array)).dtype.kind == "f"]

    @contextmanager
    def as_built() -> Iterator[None]:
        later = [values.copy() for values, _ in kept]
        try:
            for values, first in kept:
                values[...] = first
            yield
        finally:
            for (values, _), last in zip(kept, later, strict=True):
                values[...] = last

    return as_built


def _arrays(part: Any) -> Iterator[wp.array]:
    """Yield the arrays of a model on the CPU, with those of its namespaces of custom attributes."""
    for value in vars(part).values():
        if isinstance(value, wp.array):
            yield value
        elif isinstance(value, newton.Model.AttributeNamespace):
            yield from _arrays(value)
