"""The settings that viewers have in common."""

from __future__ import annotations

import attrs
import numpy as np
from attrs.validators import optional
from pippin.indices import chosen_worlds
from pippin.validators import positive, slice_or_indices

__all__ = ["WORLDS_MAX", "ViewerConfig"]


@attrs.frozen(kw_only=True)
class ViewerConfig:
    """Settings of every viewer; each plugin adds its own."""

    worlds: str | tuple[int, ...] | None = attrs.field(default=None, validator=optional(slice_or_indices))
    """Worlds to show: a slice as in Python (`"0:4"`, `"::2"`) or a list of indices; by default the first 16."""

    rate: float = attrs.field(default=30.0, validator=positive)
    """Frames per second [Hz]: of real time on a page or in a window, of simulated time in a file."""

    def worlds_of(self, count: int) -> np.ndarray:
        """Return the indices of the worlds to show, shape [shown].

        Args:
            count: Number of worlds.

        Raises:
            ConfigError: A world does not exist.
        """
        if self.worlds is None:
            return np.arange(min(count, WORLDS_MAX))
        return chosen_worlds(self.worlds, count, "worlds", "leave the viewer out")


WORLDS_MAX = 16
"""Worlds that are shown by default."""
