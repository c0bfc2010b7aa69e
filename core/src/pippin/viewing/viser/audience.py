"""Audience of a page: whether somebody looks, and whether everybody has left."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Audience"]

_PATIENCE = 1.0
"""Time without a browser after which everybody has left [s]: a tab that is loaded again is gone for a moment."""


class Audience:
    """The browsers that have a page open.

    Args:
        count: Returns their number.
    """

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._seen: float | None = None

    @property
    def count(self) -> int:
        """Number of browsers that have the page open."""
        return self._count()

    def has_left(self) -> bool:
        """Tell whether there were browsers, and for a second there have been none. Ask often."""
        if self._count():
            self._seen = time.monotonic()
        return self._seen is not None and time.monotonic() > self._seen + _PATIENCE
