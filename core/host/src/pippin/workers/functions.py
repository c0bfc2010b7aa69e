"""Functions of the user by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from pippin.errors import ConfigError
from pippin.spelling import did_you_mean


def function_named(name: str) -> Callable[..., Any]:
    """Return a function of a module that Python finds; the module is imported.

    Args:
        name: The function, as `module:function`.

    Raises:
        ConfigError: There is no such module or function, or the module cannot be imported.
    """
    module_name, colon, attribute = name.partition(":")
    if not (colon and attribute.isidentifier() and all(part.isidentifier() for part in module_name.split("."))):
        raise ConfigError(f"function: {name!r} is not the name of a function; write 'module:function'")
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
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"function: {module_name!r} cannot be imported ({reason}); repair it") from error
    function: Any = getattr(module, attribute, None)
    if not callable(function):
        hint = did_you_mean(attribute, dir(module)) or "; name one of its functions"
        raise ConfigError(f"function: module {module_name!r} has no function {attribute!r}{hint}")
    return function
