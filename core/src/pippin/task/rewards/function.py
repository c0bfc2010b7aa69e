"""A reward that a function of the user's computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs
from pippin.task.functions import FunctionConfig, UserFunction
from pippin.task.terms import Reward, RewardConfig

if TYPE_CHECKING:
    import warp as wp
    from pippin.task.place import TaskPlace

__all__ = ["FunctionReward"]


@attrs.frozen(kw_only=True)
class FunctionRewardConfig(RewardConfig, FunctionConfig):
    """A reward that a function `def name(place, out, **parameters)` computes: `out` has shape [worlds]."""


class FunctionReward(Reward):
    """The reward `function`: what a function of the user's writes."""

    Config: ClassVar[type] = FunctionRewardConfig

    def __init__(self, config: FunctionRewardConfig, place: TaskPlace) -> None:
        super().__init__(config, place)
        self.is_capturable = config.is_capturable
        self._function = UserFunction(config, place)

    def evaluate(self, out: wp.array[float]) -> None:
        """Call the function."""
        self._function(out)
