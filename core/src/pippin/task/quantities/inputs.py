"""Quantities of what goes in: the action, its change, and commands."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp
from pippin import ConfigError
from pippin.task import Quantity, TermContext

from .config import CommandValueConfig
from .kernels import subtract


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
