"""Public names of a package that need NumPy, Warp or Newton, imported at their first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def late(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Args:
        package: Its `__name__`.
        modules: The module of each late name, relative to the package, such as `.sensor`.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807 - the name in a traceback
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name], package), name)

    return __getattr__
