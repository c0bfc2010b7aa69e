"""Terms that a function of the user computes."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import newton
import warp as wp
from pippin import ConfigError, PluginError
from pippin.task import Quantity, Reward, TermContext, Termination

from .config import FunctionConfig, FunctionQuantityConfig
from .lookup import function_named


class UserFunction:
    """A user's function with its parameters.

    Args:
        config: The function's name and parameters.
        context: The context of the term.

    Raises:
        ConfigError: There is no such module or function, or it does not take these parameters.
    """

    def __init__(self, config: FunctionConfig, context: TermContext) -> None:
        self._name, self._context, self._parameters = config.function, context, dict(config.parameters)
        self._function = function_named(config.function)
        try:
            inspect.signature(self._function).bind(context, None, **self._parameters)
        except TypeError as error:
            raise ConfigError(
                f"parameters: {config.function!r} does not take (context, out, **parameters): {error}; change one"
            ) from error

    def __call__(self, out: wp.array) -> None:
        """Let the function write `out`.

        Raises:
            PluginError: The function raised.
        """
        try:
            self._function(self._context, out, **self._parameters)
        except Exception as error:
            raise PluginError(
                f"task.{self._context.name}: function {self._name!r} raised {type(error).__name__}: {error}"
            ) from error


class FunctionQuantity(Quantity):
    """The quantity `function`: what a function of the user writes."""

    unit = "its own"

    def __init__(self, config: FunctionQuantityConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.unit, self.is_capturable = config.unit, config.is_capturable
        self._function = UserFunction(config, context)

    @property
    def labels(self) -> Sequence[str]:
        """The labels of the configuration."""
        return self.config.labels

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Call the function."""
        self._function(out)


class FunctionReward(Reward):
    """The reward `function`: what a function of the user writes."""

    def __init__(self, config: FunctionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.is_capturable = config.is_capturable
        self._function = UserFunction(config, context)

    def evaluate(self, out: wp.array[float]) -> None:
        """Call the function."""
        self._function(out)


class FunctionTermination(Termination):
    """The termination `function`: what a function of the user writes, `out` of shape [worlds] and type bool."""

    def __init__(self, config: FunctionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.is_capturable = config.is_capturable
        self._function = UserFunction(config, context)

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Call the function."""
        self._function(out)
