"""Public names of a package that need NumPy, Warp or Newton, imported at their first use."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .spelling import did_you_mean

__all__ = ["late"]


def late(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: names of its block `if TYPE_CHECKING:` are imported at their first use.

    This block of imports is the one list of these names: it is read from the source when somebody asks for a name.

    Args:
        package: Its `__name__`.

    Raises:
        AttributeError: By the function, of a name that the package does not have.
    """
    modules_of_names = functools.cache(lambda: _imports_for_type_checkers(package))

    def __getattr__(name: str) -> Any:  # noqa: N807 - the name in a traceback
        # Tools ask each module for many private names that none has.
        modules = {} if name.startswith("_") else modules_of_names()
        if name in modules:
            return getattr(import_module(modules[name], package), name)
        near = did_you_mean(name, [*vars(sys.modules[package]), *modules] if modules else ())
        raise AttributeError(f"module {package!r} has no attribute {name!r}{near}")

    return __getattr__


def _imports_for_type_checkers(package: str) -> dict[str, str]:
    blocks = [each for each in ast.parse(inspect.getsource(sys.modules[package])).body if isinstance(each, ast.If)]
    imports = [each for block in blocks for each in block.body if isinstance(each, ast.ImportFrom)]
    return {alias.name: f"{'.' * each.level}{each.module}" for each in imports for alias in each.names}
