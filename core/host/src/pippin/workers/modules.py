"""Functions and modules by name: those of the user, and modules of files, such as plugins, also in other processes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from typing import Any

from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

_MARK = "pippin: a file"


def file_spec(name: str, path: str) -> ModuleSpec:
    """Return the spec of a module that `modules_of_files` finds when it is imported."""
    spec = spec_from_file_location(name, path)
    assert spec is not None, "its name ends with .py"
    spec.loader_state = _MARK
    return spec


def modules_of_files() -> dict[str, str]:
    """Return the files of such modules of this process, by the name of the module."""
    specs: list[Any] = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    return {spec.name: spec.origin for spec in specs if getattr(spec, "loader_state", None) == _MARK}


def find_modules(files: Mapping[str, str]) -> None:
    """Let this process import modules by their names in another one."""
    if files:
        sys.meta_path.append(_FileFinder(files))


class ModulesOfFiles:
    """Files of modules, which another process can find as soon as this is unpickled there; it becomes None."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def __reduce__(self) -> tuple[Any, ...]:
        return find_modules, (dict(self._files),)


class _FileFinder:
    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return file_spec(name, self._files[name]) if name in self._files else None


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
