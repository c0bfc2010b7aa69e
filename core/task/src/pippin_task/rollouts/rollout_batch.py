"""Batches of transitions: what happened in consecutive control steps of some worlds, for a learner."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np


@attrs.frozen(kw_only=True, eq=False)
class RolloutBatch:
    """Consecutive control steps of some worlds. Arrays by group have the names of the task's groups as keys."""

    first_world: int
    """Number of the first world in the whole run."""

    start: int
    """Number of the first control step."""

    observations: Mapping[str, np.ndarray]
    """From which each action was chosen, by group, shape [steps, worlds, numbers]."""

    actions: np.ndarray
    """Shape [steps, worlds, numbers]."""

    rewards: np.ndarray
    """Shape [steps, worlds]."""

    terminated: np.ndarray
    """Whether the episode ended in the step by a termination, shape [steps, worlds]."""

    truncated: np.ndarray
    """Whether the episode ended in the step by its length, shape [steps, worlds]."""

    ended: np.ndarray
    """Step of the batch and world of the shard of each episode that ended, shape [episodes, 2]."""

    final_observations: Mapping[str, np.ndarray]
    """The last observations of the episodes that ended, by group, shape [episodes, numbers]."""

    last_observations: Mapping[str, np.ndarray]
    """Observations after the batch, by group, shape [worlds, numbers]."""
