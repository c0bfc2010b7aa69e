"""Shapes that change while a viewer looks: the variants of bodies."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
from pippin.arrays import on_host


class VariantWatch:
    """The variants of bodies that a viewer has drawn.

    Args:
        model: The model of all worlds.
    """

    def __init__(self, model: newton.Model) -> None:
        self._array: Any = model.body_variant
        drawn = on_host(self._array).copy()
        self._drawn: np.ndarray | None = drawn if (drawn >= 0).any() else None

    def has_changed(self) -> bool:
        """Return whether a body has another variant than at the last call. Waits for the device if bodies have any."""
        if self._drawn is None:
            return False
        now = on_host(self._array)
        is_new = bool((now != self._drawn).any())
        self._drawn[:] = now
        return is_new
