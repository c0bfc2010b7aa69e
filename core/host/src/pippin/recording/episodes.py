"""Episodes by world: the terms of the last control step of the chosen worlds, and the sums of their episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from .kernels import show_episodes


class EpisodeTable:
    """The terms of a task as they counted in the last control step, in the chosen worlds.

    The rewards have their weights, so that they sum to the reward. A step that ends an episode shows the return and the
    length of that episode.
    """

    def __init__(self, task: Any, worlds: np.ndarray) -> None:
        self._episodes = episodes = task.episodes
        count, device = len(worlds), episodes.device
        self._worlds = wp.array(worlds, dtype=int, device=device)
        #: The arrays by name: `rewards` [worlds, rewards], `terminations` [worlds, terminations], `return` and `length`
        #: [worlds].
        self.arrays: dict[str, wp.array] = {
            "rewards": wp.zeros((count, len(task.rewards)), dtype=float, device=device),
            "terminations": wp.zeros((count, len(task.terminations)), dtype=bool, device=device),
            "return": wp.zeros(count, dtype=float, device=device),
            "length": wp.zeros(count, dtype=int, device=device),
        }

    def update(self) -> None:
        """Fill the arrays."""
        of = self._episodes
        inputs = [self._worlds, of.weights, of.reward_terms, of.termination_terms, of.diverged, of.ended, of.finished]
        inputs += [of.episode_return, of.length, of.finished_return, of.finished_length, *self.arrays.values()]
        wp.launch(show_episodes, len(self._worlds), inputs, device=of.device)
