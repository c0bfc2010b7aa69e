"""Spaces of Gymnasium for the actions and observations of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium
import numpy as np
from pippin.errors import ConfigError

if TYPE_CHECKING:
    from pippin.task.task import Task


def action_space(task: Task) -> gymnasium.spaces.Box:
    """Return the space of one world's action, with the bounds of `clip`.

    Raises:
        ConfigError: The task has no actions.
    """
    low, high = task.action_bounds
    if not low.size:
        raise ConfigError("task.actions: there are none; an environment needs at least one")
    return gymnasium.spaces.Box(low, high, dtype=np.float32)


def observation_space(task: Task) -> gymnasium.Space:
    """Return the space of one world's observations: of the one group, or a `Dict` of the groups.

    Raises:
        ConfigError: The task has no observations.
    """
    boxes: dict[str, gymnasium.Space] = {
        name: gymnasium.spaces.Box(-np.inf, np.inf, (len(group.labels),), dtype=np.float32)
        for name, group in task.observations.items()
    }
    if not boxes:
        raise ConfigError("task.observations: there are none; an environment needs at least one group")
    return next(iter(boxes.values())) if len(boxes) == 1 else gymnasium.spaces.Dict(boxes)
