"""Terms that a function of the user computes."""

from __future__ import annotations

import inspect
from typing import Any

import newton
import warp as wp
from pippin import ConfigError, PluginError
from pippin.workers import function_named

from pippin_task import Quantity, Reward, TermContext, Termination

from .configs import FunctionConfig, FunctionQuantityConfig


class OfFunction:
    """The part that all terms share whose numbers a user's function computes."""

    config: Any
    context: TermContext

    def __init__(self, config: FunctionConfig, context: TermContext) -> None:
        super().__init__(config, context)  # pyrefly: ignore[bad-argument-count]
        self.is_capturable = config.is_capturable
        self._function = function_named(config.function)
        try:
            inspect.signature(self._function).bind(context, None, **config.parameters)
        except TypeError as error:
            raise ConfigError(
                f"parameters: {config.function!r} does not take (context, out, **parameters): {error}; change one"
            ) from error

    def evaluate(self, out: wp.array) -> None:
        """Let the function write `out`."""
        try:
            self._function(self.context, out, **self.config.parameters)
        except Exception as error:
            raise PluginError(
                f"task.{self.context.name}: function {self.config.function!r} raised {type(error).__name__}: {error}"
            ) from error


class FunctionQuantity(OfFunction, Quantity):
    """The quantity `function`: what a function of the user writes."""

    unit = "its own"

    def __init__(self, config: FunctionQuantityConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.unit, self.labels = config.unit, config.labels

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Call the function."""
        self.evaluate(out)


class FunctionReward(OfFunction, Reward):
    """The reward `function`: what a function of the user writes."""


class FunctionTermination(OfFunction, Termination):
    """The termination `function`: what a function of the user writes, `out` of shape [worlds] and type bool."""
