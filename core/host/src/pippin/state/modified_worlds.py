"""Worlds that something other than the solver wrote, until a solver with memory of its own has read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import newton
import warp as wp

from .kernels import merge_mask


class ModifiedWorlds:
    """The worlds that a reset, a user or a component wrote since the solver read them: their state, or their model.

    Masks are merged on the device, so that a step may be recorded that resets worlds.

    Args:
        is_asked: Whether the component of the solver asks for the worlds; otherwise nothing is noted.
        at_first: Whether every world counts as written at first.
    """

    def __init__(self, model: newton.Model, *, is_asked: bool, at_first: bool) -> None:
        #: Whether the component of the solver asks for the worlds.
        self.is_asked = is_asked
        #: True for each of these worlds, shape [world_count + 1]; the last entry is for objects of no world.
        self.mask = wp.full(model.world_count + 1, value=at_first, dtype=bool, device=model.device)

    def add(self, world_mask: wp.array[wp.bool] | None) -> None:
        """Add the masked worlds; None means all. May be recorded."""
        if not self.is_asked:
            return
        if world_mask is None:
            self.mask.fill_(value=True)
        else:
            wp.launch(merge_mask, len(world_mask), [world_mask, self.mask], device=world_mask.device)

    def during(self, step: Callable[[], Any]) -> Callable[[], Any]:
        """Return a step of the solver after which it has read all worlds; it may be recorded if `step` may be."""
        if not self.is_asked:
            return step

        def read() -> None:
            step()
            self.mask.zero_()

        return read
