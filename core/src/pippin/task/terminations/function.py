"""A termination that a function of the user's decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pippin.task.functions import FunctionConfig, UserFunction
from pippin.task.terms import Termination

if TYPE_CHECKING:
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["FunctionTermination"]


class FunctionTermination(Termination):
    """The termination `function`: what a function of the user's writes, `out` of shape [worlds] and type bool."""

    Config: ClassVar[type] = FunctionConfig

    def __init__(self, config: FunctionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.is_capturable = config.is_capturable
        self._function = UserFunction(config, context)

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Call the function."""
        self._function(out)
