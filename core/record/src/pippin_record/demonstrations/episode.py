"""Episodes: the frames of one world from a reset to the next one."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np


@attrs.define(kw_only=True, eq=False)
class Episode:
    """The frames of an episode so far."""

    world: int
    """The world, by its row in the recording."""

    number: int
    """Resets of the world before it."""

    length: int = 0
    """Number of frames."""

    has_ended: bool = False
    """Whether the task ended it."""

    parts: dict[str, list[np.ndarray]] = attrs.field(factory=dict)
    """Values by channel, in parts of some frames each, shape [frames, …]."""

    images: dict[str, Any] = attrs.field(factory=dict)
    """What a recorder makes of the images, by camera."""

    def column(self, name: str) -> np.ndarray:
        """Return the values of a channel in all frames, shape [frames, numbers].

        Args:
            name: The channel, which has a `before/` if its values are from before each step.
        """
        return np.concatenate(self.parts[name]).reshape(self.length, -1)
