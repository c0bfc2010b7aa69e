"""Kernels of Newton's collision pipelines, made once for each choice of their options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any

import newton
import warp as wp

_CHOICES = 256
"""Kernels that are kept: a pipeline has up to eight."""


@contextmanager
def kernels_made_once() -> Iterator[None]:
    """Let pipelines that are built in a `with` block share kernels with those that were built before.

    Newton makes the kernels of each pipeline anew. Warp then analyses them again, which takes longer than all other
    work of a small simulation's build. A kernel depends only on the arguments that it is made with, and on Warp's
    options at that time.
    """
    names = vars(sys.modules[newton.geometry.NarrowPhase.__module__])
    makers = {name: make for name, make in names.items() if name.startswith("create_") and "kernel" in name}
    names.update({name: _once(make) for name, make in makers.items()})
    try:
        yield
    finally:
        names.update(makers)


@lru_cache(maxsize=_CHOICES)
def _once(make: Callable[..., Any]) -> Callable[..., Any]:

    @lru_cache(maxsize=_CHOICES)
    def kernel_of(options: tuple[Any, ...], arguments: tuple[Any, ...], named: tuple[tuple[str, Any], ...]) -> Any:
        return make(*arguments, **dict(named))

    @wraps(make)
    def call(*arguments: Any, **named: Any) -> Any:
        options = tuple(value for value in vars(wp.config).values() if isinstance(value, str | int | float | None))
        return kernel_of(options, arguments, tuple(named.items()))

    return call
