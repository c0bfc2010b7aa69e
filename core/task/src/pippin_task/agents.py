"""Agents without a network, to compare a policy with: no action, or random ones."""

from __future__ import annotations

from typing import Any, Literal

import attrs
import numpy as np
import warp as wp
from attrs.validators import in_
from pippin import ConfigError, Host, hookimpl

from .kernels import draw_action


@attrs.frozen(kw_only=True)
class AgentConfig:
    """Actions without a policy: all zero, or evenly drawn within the bounds of the task's actions."""

    implementation = "Agent"

    actions: Literal["zero", "random"] = attrs.field(default="random", validator=in_(("zero", "random")))
    """"zero", or "random": within the bounds of the actions, or else from -1 to 1."""


class Agent:
    """The component that acts in place of a policy."""

    def __init__(self, config: AgentConfig) -> None:
        self.config = config
        self.notes = [f"the actions are {'drawn at random' if config.actions == 'random' else 'zero'}"]

    @hookimpl
    def bind(self, simulation: Host) -> None:
        """Make the draws."""
        if simulation.config.task is None or simulation.config.policy is not None:
            raise ConfigError("an agent acts in a file with a [task] and without a [policy]; choose another file")
        self._host, self._draws = simulation, simulation.seeds.draws("agent/action")
        self._bounds: Any = None

    @hookimpl(tryfirst=True)
    def start_step(self) -> None:
        """Write the action of the step."""
        task, host = self._host.task, self._host
        action = task.episodes.action
        if self.config.actions == "zero":
            action.zero_()
            return
        if self._bounds is None:
            wide = zip(task.action_bounds, (-1.0, 1.0), strict=True)
            bounds = [np.where(np.isfinite(each), each, usual).astype(np.float32) for each, usual in wide]
            self._bounds = [wp.array(each, dtype=float, device=action.device) for each in bounds]
        key, seeds, first_world, _ = self._draws.arguments
        inputs = [key, seeds, first_world, host.step_counter, *self._bounds, action]
        wp.launch(draw_action, action.shape, inputs, device=action.device)
