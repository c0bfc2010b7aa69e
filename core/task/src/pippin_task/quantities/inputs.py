"""Quantities of what goes in: the action, its change, and commands."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp
from pippin import ConfigError

from pippin_task import Quantity, TermContext

from .configs import CommandValueConfig, RemainingTimeConfig
from .kernels import read_remaining_time, subtract, take_second_difference


class LastAction(Quantity):
    """The quantity `last-action`: the action of the last control step, a, before any `clip`; zero after a reset."""

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        if not context.episodes.action.shape[1]:
            raise ConfigError("type: the task has no actions; add a table [task.actions.LABEL]")
        self.labels = tuple(map(str, range(context.episodes.action.shape[1])))
        self.values = context.episodes.action

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Copy the action."""
        if out is not self.values:
            wp.copy(out, self.values)


class ActionRate(LastAction):
    """The quantity `action-rate`: the action minus that of the control step before, a − a'; zero after a reset."""

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        self.values = wp.zeros_like(self.values)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the difference."""
        episodes = self.context.episodes
        wp.launch(subtract, out.shape, [episodes.action, episodes.last_action, out], device=out.device)


class ActionAcceleration(ActionRate):
    """The quantity `action-acceleration`: a − 2 a' + a'', of the last three control steps; zero after a reset.

    Actions before the first one of an episode count as zero, as they do for `action-rate`.
    """

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the second difference."""
        episodes = self.context.episodes
        inputs = [episodes.action, episodes.last_action, episodes.earlier_action, out]
        wp.launch(take_second_difference, out.shape, inputs, device=out.device)


class RemainingTime(Quantity):
    """The quantity `remaining-time`: T − t, of an episode of the length T; or (T − t) / T."""

    unit = "s"
    labels = ("remaining",)
    advances = True

    def __init__(self, config: RemainingTimeConfig, context: TermContext) -> None:
        super().__init__(config, context)
        host = context.simulation
        length = None if host.config.task is None else host.config.task.episode_length
        if length is None:
            raise ConfigError("type: an episode has no end to count to; set task.episode_length")
        self.unit = "1" if config.share else "s"
        self._steps = round(length / host.control_dt)
        self._unit = 1.0 / self._steps if config.share else host.control_dt

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the time."""
        inputs = [self.context.episodes.length, self._steps, self._unit, out]
        wp.launch(read_remaining_time, len(out), inputs, device=out.device)


class CommandValue(Quantity):
    """The quantity `command`: the numbers of a command."""

    unit = "its own"
    advances = True

    def __init__(self, config: CommandValueConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._command = context.command(config.command, "command")
        self.unit, self.labels, self.values = self._command.unit, self._command.labels, self._command.value

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Copy the numbers."""
        if out is not self.values:
            wp.copy(out, self.values)
