"""Functions of the user's, called for a term."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
from pippin.errors import ConfigError, PluginError
from pippin.spelling import did_you_mean

if TYPE_CHECKING:
    from .context import TermContext

__all__ = ["FunctionConfig", "UserFunction", "function_named"]

Parameter = bool | int | float | str | tuple[float, ...]


@attrs.frozen(kw_only=True)
class FunctionConfig:
    """A function `def name(context, out, **parameters)` that launches kernels, and writes `out`.

    It is called while the step is recorded, and again for each step that runs eagerly. It gets the
    `pippin.task.TermContext` of its term, whose `simulation.state` is the state after the control step.
    """

    function: str
    """The function as `module:function`; Python must find the module."""

    parameters: Mapping[str, Parameter] = attrs.field(factory=dict)
    """Arguments of the function by name."""

    is_capturable: bool = True
    """Whether the calls may be recorded; if not, the whole task runs eagerly in each step."""


class UserFunction:
    """A user's function with its parameters.

    Args:
        config: The function's name and parameters.
        context: The context of the term.

    Raises:
        ConfigError: There is no such module or function, or it does not take these parameters.
    """

    def __init__(self, config: Any, context: TermContext) -> None:
        self._name, self._context, self._parameters = config.function, context, dict(config.parameters)
        self._function: Callable[..., None] = function_named(config.function)
        try:
            inspect.signature(self._function).bind(context, None, **self._parameters)
        except TypeError as error:
            raise ConfigError(
                f"parameters: {config.function!r} does not take (context, out, **parameters): {error}; change one"
            ) from error

    def __call__(self, out: Any) -> None:
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


def function_named(name: str) -> Callable[..., Any]:
    """Return the function `module:function`.

    Raises:
        ConfigError: There is no such module or function, or the module cannot be imported.
    """
    module_name, colon, attribute = name.partition(":")
    if not (colon and attribute.isidentifier() and all(part.isidentifier() for part in module_name.split("."))):
        raise ConfigError(f"function: {name!r} is no name of a function; write 'module:function'")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if not f"{module_name}.".startswith(f"{error.name}."):
            raise ConfigError(
                f"function: {module_name!r} cannot be imported ({error}); install what it needs"
            ) from error
        raise ConfigError(
            f"function: Python finds no module {module_name!r}; install it, or put its folder on PYTHONPATH"
        ) from error
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise ConfigError(f"function: {module_name!r} cannot be imported ({told}); repair it") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        hint = did_you_mean(attribute, dir(module)) or "; name one of its functions"
        raise ConfigError(f"function: module {module_name!r} has no function {attribute!r}{hint}")
    found: Any = function
    return found
