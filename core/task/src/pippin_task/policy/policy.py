"""The policy of a task: a network that chooses the action, inside the recorded step."""

from __future__ import annotations

from typing import Any

import warp as wp
from pippin import ConfigError, Host, did_you_mean, find_file, hookimpl

from pippin_task import kernels
from pippin_task.policy.config import PolicyConfig
from pippin_task.task import Task

from .network import Network


class Policy:
    """The component that acts in a task: the network's output is the action of each control step."""

    def __init__(self, config: PolicyConfig) -> None:
        self.config = config
        self.notes: list[str] = []

    @hookimpl
    def bind(self, simulation: Host) -> None:
        """Read the network, and compare its widths with those of the task."""
        self._task: Task = simulation.task
        task = self._task
        group = task.observations[self._group(tuple(task.observations))]
        self._observations: Any = group.values
        file = find_file(self.config.path, "path")
        self._network = Network(file, simulation.world_count, len(group.labels), simulation.device)
        if self._network.width != len(task.action_labels):
            raise ConfigError(
                f"path: '{file}' gives {self._network.width} numbers, and the action has {len(task.action_labels)};"
                " choose the network of this task"
            )
        task.policy_switch = wp.ones(1, dtype=bool, device=simulation.device)
        self.notes = [f"the actions are those of '{file}'"]

    @property
    def is_capturable(self) -> bool:
        """Whether the network may be recorded."""
        return self._network.is_capturable

    @property
    def eager_reason(self) -> str | None:
        """The reason why the network may not be recorded."""
        return None if self.is_capturable else "layers of the network differ, but have kernels of one name"

    @hookimpl(tryfirst=True)
    def start_step(self) -> None:
        """Choose the action from the last observations."""
        action: Any = self._task.episodes.action
        self._network(self._observations, action)
        wp.launch(kernels.silence_policy, action.shape, [self._task.policy_switch, action], device=action.device)

    def _group(self, names: tuple[str, ...]) -> str:
        chosen = self.config.observations
        if chosen is None and len(names) == 1:
            return names[0]
        if chosen not in names:
            near = did_you_mean(str(chosen), names)
            raise ConfigError(f"observations: got {chosen!r}{near}; groups: {', '.join(names) or 'none'}")
        return chosen
