"""Rewards of the episode itself: that it goes on, that it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs
from pippin.task.terms import Reward, RewardConfig

if TYPE_CHECKING:
    import warp as wp

__all__ = ["Alive", "Terminated"]


@attrs.frozen(kw_only=True)
class TerminatedConfig(RewardConfig):
    """A reward of the last step of an episode, if a termination ends it."""

    once: bool = False
    """Whether the weight is that of the whole event, even if `task.reward_rate` is per second: the value is then
    divided by the length of a control step."""


class Alive(Reward):
    """The reward `alive`: 1 while the episode goes on, 0 in a step in which a termination ends it."""

    Config: ClassVar[type] = RewardConfig

    def evaluate(self, out: wp.array[float]) -> None:
        """Write 1 − terminated."""
        import warp as wp

        from .kernels import tell_end

        wp.launch(tell_end, len(out), [self.context.episodes.terminated, 0.0, 1.0, out], device=out.device)


class Terminated(Reward):
    """The reward `terminated`: 1 in a step in which a termination ends the episode, else 0."""

    Config: ClassVar[type] = TerminatedConfig

    def evaluate(self, out: wp.array[float]) -> None:
        """Write terminated, or terminated / control_dt."""
        import warp as wp

        from .kernels import tell_end

        host = self.context.simulation
        task = host.config.task
        is_rate = self.config.once and task is not None and task.reward_rate == "second"
        value = 1.0 / host.control_dt if is_rate else 1.0
        wp.launch(tell_end, len(out), [self.context.episodes.terminated, value, 0.0, out], device=out.device)
