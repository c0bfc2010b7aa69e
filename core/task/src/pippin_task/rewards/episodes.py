"""Rewards of the episode itself: that it continues, that it ends."""

from __future__ import annotations

import warp as wp

from pippin_task import Reward

from .kernels import read_end


class Alive(Reward):
    """The reward `alive`: 1 while the episode continues, 0 in a step in which a termination ends it."""

    def evaluate(self, out: wp.array[float]) -> None:
        """Write 1 − terminated."""
        wp.launch(read_end, len(out), [self.context.episodes.terminated, 0.0, 1.0, out], device=out.device)


class Terminated(Reward):
    """The reward `terminated`: 1 in a step in which a termination ends the episode, else 0."""

    def evaluate(self, out: wp.array[float]) -> None:
        """Write terminated, or terminated / control_dt."""
        host = self.context.simulation
        task = host.config.task
        is_rate = self.config.once and task is not None and task.reward_rate == "second"
        value = 1.0 / host.control_dt if is_rate else 1.0
        wp.launch(read_end, len(out), [self.context.episodes.terminated, value, 0.0, out], device=out.device)
