"""The base class of stages."""

from __future__ import annotations

import abc
from typing import Any

import warp as wp

from .lanes import OutputLanes


class Stage(abc.ABC):
    """A change of one output's values. A plugin adds `apply`, and `reset` if it has memory.

    The memory is in Warp arrays among the attributes, so that checkpoints and graphs find it.

    Args:
        config: The plugin's configuration.
        lanes: The numbers of the output, by world, and their random numbers.
    """

    is_arithmetic: bool = True
    """Whether the stage computes new values; rotations are refused then, because their components depend on each
    other."""

    def __init__(self, config: Any, lanes: OutputLanes) -> None:
        self.config = config
        self.lanes = lanes

    @abc.abstractmethod
    def apply(self, values: wp.array, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Change the values of the masked worlds in place. May be recorded.

        Args:
            values: Shape [worlds, numbers of a world].
            world_mask: Shape [world_count + 1].
            dt: Time since the last reading [s]; zero if a reset caused this reading.
        """

    def reset(self, world_mask: wp.array[wp.bool]) -> None:  # noqa: B027 - most stages remember nothing
        """Clear the memory of the masked worlds, or draw it anew."""
