"""Clients of a page: the browsers that have it open."""

from __future__ import annotations

import time
from collections.abc import Callable

_GRACE_PERIOD = 1.0
"""Time without a client after which all have left [s]: a tab that is loaded again is gone for a moment."""


class Clients:
    """The browsers that have a page open.

    Args:
        count: Returns their number.
    """

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._last_seen: float | None = None

    @property
    def count(self) -> int:
        """Number of browsers that have the page open."""
        return self._count()

    def have_left(self) -> bool:
        """Tell whether there were clients, and none for a second. Call it often."""
        if self._count():
            self._last_seen = time.monotonic()
        return self._last_seen is not None and time.monotonic() > self._last_seen + _GRACE_PERIOD
