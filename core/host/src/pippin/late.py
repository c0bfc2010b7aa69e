"""Public names of a package that need NumPy, Warp or Newton, imported at their first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from .spelling import did_you_mean

__all__ = ["late"]


def late(package: str, modules: Mapping[str, str], packages: Sequence[str] = ()) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Args:
        package: Its `__name__`.
        modules: The module of each late name, relative to the package, such as `.sensor`.
        packages: Packages inside that are themselves late names.

    Raises:
        AttributeError: By the function, of a name that the package does not have.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807 - the name in a traceback
        if name in packages:
            return import_module(f"{package}.{name}")
        if name not in modules:
            # Tools ask each module for many private names that none has.
            known = [] if name.startswith("_") else [*vars(sys.modules[package]), *modules, *packages]
            near = did_you_mean(name, known)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{near}")
        return getattr(import_module(modules[name], package), name)

    return __getattr__
