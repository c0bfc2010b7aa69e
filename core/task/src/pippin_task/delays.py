"""Delays of observations and actions: numbers of control steps, drawn for each world at each reset."""

from __future__ import annotations

from typing import Any

import warp as wp

from .context import TermContext
from .kernels import delay_action, draw_delays, forget_actions


class Delays:
    """The delay of each world."""

    def __init__(self, bounds: tuple[int, int], context: TermContext) -> None:
        self._bounds = bounds
        #: Control steps by which each world is late, shape [worlds].
        self.steps: wp.array = wp.full(context.world_count, bounds[0], dtype=int, device=context.device)
        self._draws = context.draws("delay") if bounds[0] < bounds[1] else None

    def draw(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the delays of the masked worlds; mask of shape [worlds + 1]. May be recorded."""
        if self._draws is None:
            return
        inputs = [world_mask, *self._draws.arguments, *self._bounds, self.steps]
        wp.launch(draw_delays, len(self.steps), inputs, device=self.steps.device)
        self._draws.advance(world_mask)


class LateAction:
    """The action that takes effect: one that was given some control steps before, or zero.

    Args:
        bounds: Least and largest number of control steps.
        action: The action as it is given, shape [worlds, width].
    """

    def __init__(self, bounds: tuple[int, int], action: wp.array, context: TermContext) -> None:
        worlds, width = action.shape
        self._delays, self._action = Delays(bounds, context), action
        self._taken: Any = wp.zeros((worlds, bounds[1] + 1, width), dtype=float, device=action.device)
        #: The action that takes effect, shape [worlds, width].
        self.values: Any = wp.zeros_like(action)

    def update(self) -> None:
        """Take the present action. May be recorded."""
        inputs = [self._action, self._delays.steps, self._taken, self.values]
        wp.launch(delay_action, self._action.shape, inputs, device=self._action.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Forget the actions of the masked worlds, and draw their delays; mask of shape [worlds + 1]."""
        self._delays.draw(world_mask)
        wp.launch(forget_actions, self._taken.shape, [world_mask, self._taken], device=self._taken.device)
