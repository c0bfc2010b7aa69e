"""Random times of events and commands in each world."""

from __future__ import annotations

import warp as wp
from pippin import ConfigError

from . import kernels
from .context import TermContext
from .terms import Command, Event


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
        self._inputs = [*context.draws("period").arguments, *term.config.period]

    def draw(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the first time in the masked worlds."""
        inputs = [world_mask, *self._inputs, self._left]
        wp.launch(kernels.draw_times, len(self._left), inputs, device=self.due.device)

    def count_down(self, dt: float) -> None:
        """Let time pass [s]; where it is over, the world is due, and a new time is drawn."""
        inputs = [*self._inputs, dt, self._left, self.due]
        wp.launch(kernels.take_due, len(self._left), inputs, device=self.due.device)
