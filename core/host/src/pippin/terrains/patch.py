"""The base class of patches."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from .ground import Ground


class Patch(abc.ABC):
    """A kind of patches. A plugin adds `ground`.

    Args:
        config: The table of the patches, a `PatchConfig`.
    """

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def ground(self, size: tuple[float, float], difficulty: float, random: np.random.Generator) -> Ground:
        """Return the ground of one patch, in a frame with its origin in the middle of the patch and z up.

        The ground around is at height zero. Equal arguments give equal ground.

        Args:
            size: Lengths of the patch along x and y [m].
            difficulty: A number from 0, the easiest patch, to 1.
            random: The only source of random numbers.

        Raises:
            pippin.ConfigError: The keys do not fit the size. The error begins with the key; the host puts the place of
                the table in front.
        """
