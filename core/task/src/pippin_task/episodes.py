"""The arrays of a task that belong to its worlds: actions, rewards, ends, and statistics of episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin import SimulationError

from . import kernels

_NO_FAULT = 2**31 - 1

SUCCESS = "success"
"""Label of the metric that tells whether an episode is a success."""


class EpisodeBuffers:
    """The arrays of a task that belong to its worlds and their episodes.

    Args:
        count: The number of worlds.
        device: Device of the arrays.
        weights: The weight of each reward, for a control step.
        truncates: Whether each termination truncates.
        metrics: Labels of the metrics.
    """

    action: wp.array
    """Action of this control step, shape [worlds, width]; known after the actions."""
    last_action: wp.array
    """Action of the control step before, shape [worlds, width]; zero after a reset."""
    earlier_action: wp.array
    """Action of the control step before that one, shape [worlds, width]; zero after a reset."""
    taken_action: wp.array
    """Action of the last control step, shape [worlds, width]; a reset at its end leaves it."""

    def __init__(
        self,
        count: int,
        device: wp.Device,
        weights: Sequence[float],
        truncates: Sequence[bool],
        metrics: Sequence[str] = (),
    ) -> None:
        terminations = len(truncates)

        def flags(*shape: int) -> wp.array:
            return wp.zeros(shape, dtype=bool, device=device)

        def numbers(*shape: int) -> wp.array:
            return wp.zeros(shape, dtype=float, device=device)

        self.count, self.device = count, device
        #: Control steps of the episode so far, shape [worlds].
        self.length: wp.array = wp.zeros(count, dtype=int, device=device)
        #: The worlds whose episode ended in this step by a termination, or because its time is over, shape [worlds].
        self.terminated, self.truncated = flags(count), flags(count)
        #: Value of each reward without its weight, and whether each termination holds, shape [terms, worlds].
        self.reward_terms: Any = numbers(len(weights), count)
        self.termination_terms: Any = flags(terminations, count)
        #: The reward of the last step, shape [worlds].
        self.reward: wp.array = numbers(count)
        #: Sums over the episode so far: of the reward, shape [worlds], and of its terms, shape [rewards, worlds].
        self.episode_return, self.episode_sums = numbers(count), numbers(len(weights), count)
        #: Whether the episode of each world ended in the last step, shape [worlds].
        self.finished: wp.array = flags(count)
        #: Length of the last finished episode of each world, shape [worlds]; its return, and the sums of its weighted
        #: rewards, shape [rewards, worlds].
        self.finished_length: wp.array = wp.zeros(count, dtype=int, device=device)
        self.finished_return, self.finished_sums = numbers(count), numbers(len(weights), count)
        rows = 4 + len(weights) + terminations + 3 + 2 * len(metrics)
        #: Of all finished episodes of each world: number, length, return, squared return, the sums of each reward, the
        #: ends at which each termination held, those that diverged, the truncated ones, those by time, and each metric
        #: and its square; shape [rows, worlds].
        self.totals: Any = wp.zeros((rows, count), dtype=wp.float64, device=device)
        #: Each metric of the episode so far, and of the last finished episode, shape [metrics, worlds].
        self.metric_terms: Any = numbers(len(metrics), count)
        self.finished_metrics: Any = numbers(len(metrics), count)
        #: The worlds whose episode ended in this step as a success, shape [worlds]; None without a metric of that.
        self.is_success: wp.array | None = flags(count) if SUCCESS in metrics else None
        self._success = list(metrics).index(SUCCESS) if SUCCESS in metrics else -1
        #: The worlds that the host resets at the end of a step, shape [worlds + 1].
        self.ended: wp.array = flags(count + 1)
        #: Whether each world's episode ended before, and its reset is to come, shape [worlds].
        self.waiting: wp.array = flags(count)
        #: The worlds whose state is not valid; those with a new state; and those that start an episode, shape [worlds].
        self.diverged, self.due, self.new = flags(count), flags(count), flags(count)
        #: The weight of each reward, for a control step, shape [rewards].
        self.weights: wp.array = wp.array(np.array(weights, dtype=np.float32), dtype=float, device=device)
        #: For the core: whether each termination truncates, shape [terminations]; and the first fault of a reward.
        self.truncates: Any = wp.array(np.array(truncates, dtype=bool), dtype=bool, device=device)
        self.fault = wp.full(1, _NO_FAULT, dtype=int, device=device)

    def set_action_width(self, width: int) -> None:
        """For the core: make the arrays of actions, shape [worlds, width]."""
        self.action, self.last_action, self.earlier_action, self.taken_action = (
            wp.zeros((self.count, width), dtype=float, device=self.device) for _ in range(4)
        )
        struct: Any = kernels.EpisodeArrays
        self._arrays = struct()
        for name in struct.vars:
            setattr(self._arrays, name, getattr(self, name.removeprefix("is_")))

    def judge(self, limit: int) -> None:
        """For the core: count the step, and write which episodes end: by a termination, or after `limit` steps."""
        wp.launch(kernels.judge, self.count, [self._arrays, limit], device=self.device)

    def end(self, autoreset: str) -> None:
        """For the core: sum the rewards, mark the worlds to reset, and keep the statistics of episodes that end."""
        inputs = [self._arrays, int(autoreset == "same-step"), int(autoreset == "next-step")]
        wp.launch(kernels.end_episodes, self.count, inputs, device=self.device)
        if count := len(self.metric_terms):
            inputs = [self._arrays, len(self.totals) - 2 * count, self._success, self.is_success]
            wp.launch(kernels.end_metrics, self.count, inputs, device=self.device)

    def begin(self, world_mask: wp.array[wp.bool]) -> None:
        """For the core: begin an episode in the masked worlds."""
        wp.launch(kernels.begin_episodes, self.count, [self._arrays, world_mask], device=self.device)

    def finish_step(self) -> None:
        """For the core: note that the observations are written, and that the action was the last one."""
        wp.launch(kernels.finish_step, self.count, [self._arrays], device=self.device)

    def raise_errors(self, rewards: Sequence[str]) -> None:
        """For the core: raise once if a reward was not finite in a world whose state is; `rewards` are the labels.

        Raises:
            SimulationError: Names the term and the world.
        """
        code = int(self.fault.numpy()[0])
        if code != _NO_FAULT:
            self.fault.fill_(_NO_FAULT)
            term, world = divmod(code, self.count)
            raise SimulationError(
                f"task.rewards.{rewards[term]}: is not finite in world {world}; bound the quantity, or end the episode"
                " before"
            )
