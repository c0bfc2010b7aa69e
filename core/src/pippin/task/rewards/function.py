"""A reward that a function of the user's computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs
from pippin.task.functions import FunctionConfig, UserFunction
from pippin.task.terms import Reward
from pippin.validators import finite

if TYPE_CHECKING:
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["FunctionReward"]


@attrs.frozen(kw_only=True)
class FunctionRewardConfig(FunctionConfig):
    """A reward that a function `def name(context, out, **parameters)` computes: `out` has shape [worlds]."""

    weight: float = attrs.field(validator=finite)
    """Factor of the term, per second or per step as `task.reward_rate` says; negative for a cost."""


class FunctionReward(Reward):
    """The reward `function`: what a function of the user's writes."""

    Config: ClassVar[type] = FunctionRewardConfig

    def __init__(self, config: FunctionRewardConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.is_capturable = config.is_capturable
        self._function = UserFunction(config, context)

    def evaluate(self, out: wp.array[float]) -> None:
        """Call the function."""
        self._function(out)
