"""Random times in each world: delays of observations and actions, and times of events and commands."""

from __future__ import annotations

from typing import Any

import warp as wp
from pippin import ConfigError

from . import kernels
from .context import TermContext
from .draws import launch_draws
from .terms import Command, Event


class Delays:
    """The delay of each world."""

    def __init__(self, bounds: tuple[int, int], context: TermContext) -> None:
        self._bounds = bounds
        #: Control steps by which each world is late, shape [worlds].
        self.steps: wp.array = wp.full(context.world_count, bounds[0], dtype=int, device=context.device)
        self._draws = context.draws("delay") if bounds[0] < bounds[1] else None

    def draw(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the delays of the masked worlds; mask of shape [worlds + 1]. May be recorded."""
        if self._draws is not None:
            launch_draws(kernels.draw_delays, len(self.steps), self._draws, world_mask, *self._bounds, self.steps)


class LateAction:
    """The action that takes effect: that of `action` as many control steps before as `bounds` permit, or zero."""

    def __init__(self, bounds: tuple[int, int], action: wp.array, context: TermContext) -> None:
        worlds, width = action.shape
        self._delays, self._action = Delays(bounds, context), action
        self._taken: Any = wp.zeros((worlds, bounds[1] + 1, width), dtype=float, device=action.device)
        #: The action that takes effect, shape [worlds, width].
        self.values: Any = wp.zeros_like(action)

    def update(self) -> None:
        """Take the present action. May be recorded."""
        inputs = [self._action, self._delays.steps, self._taken, self.values]
        wp.launch(kernels.delay_action, self._action.shape, inputs, device=self._action.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Forget the actions of the masked worlds, and draw their delays; mask of shape [worlds + 1]."""
        self._delays.draw(world_mask)
        wp.launch(kernels.forget_actions, self._taken.shape, [world_mask, self._taken], device=self._taken.device)


class Timer:
    """Random times in each world of an event or a command, whose configuration has a `period`.

    Raises:
        ConfigError: The period is below a control step.
    """

    def __init__(self, term: Event | Command) -> None:
        context: TermContext = term.context
        step, lowest = context.simulation.control_dt, term.config.period[0]
        if lowest < step * (1.0 - 1e-6):
            raise ConfigError(f"{context.name}.period: {lowest:g} s is below the control step of {step:g} s; use more")
        #: The event or command.
        self.term: Event | Command = term
        #: The worlds in which its time is over, shape [worlds + 1].
        self.due = wp.zeros(context.world_count + 1, dtype=bool, device=context.device)
        self._left = wp.zeros(context.world_count, dtype=wp.float64, device=context.device)
        self._draws = context.draws("period")

    def draw(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the first time in the masked worlds."""
        inputs = [*self.term.config.period, self._left]
        launch_draws(kernels.draw_times, len(self._left), self._draws, world_mask, *inputs, counts=False)

    def count_down(self, dt: float) -> None:
        """Let time pass [s]; where it is over, the world is due, and a new time is drawn."""
        inputs = [*self.term.config.period, dt, self._left]
        launch_draws(kernels.take_due, len(self._left), self._draws, self.due, *inputs, counts=False)
