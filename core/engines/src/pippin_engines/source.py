"""The engine of a solver, as its settings declare it."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

import attrs

ATTRIBUTE = "engine"
"""Attribute of a solver's settings that has its `EngineSource`."""


@attrs.frozen(kw_only=True)
class EngineSource:
    """The engine of a solver, which may be in a Python environment of its own.

    It is the class attribute `engine` of the settings, which have the fields `environment` and `timeout` too. The
    requirements are those of the extra `engine` of the solver's distribution.
    """

    file: str
    """A Python file beside the module of the settings, with `CONTRACT = 1`, `DISTRIBUTION` and the class `Engine`. It
    imports the engine, NumPy and the standard library."""

    licence: str
    """The licence of the engine and of what it brings, shown before it is installed."""

    megabytes: int
    """What it takes on the disk [MB], shown before it is installed."""

    note: str = ""
    """What a user has to accept, or to know."""

    leftovers: tuple[str, ...] = ()
    """Paths of files that its process leaves if it is killed, with `{pid}` for its number: the host removes them."""

    is_apart: bool = False
    """Whether it always needs an environment of its own, as it cannot be installed beside Pippin."""


def source_of(config: Any) -> EngineSource:
    """Return what settings, or their class, say of their engine.

    Raises:
        TypeError: They say nothing.
    """
    found = getattr(config, ATTRIBUTE, None)
    if not isinstance(found, EngineSource):
        name = (config if inspect.isclass(config) else type(config)).__qualname__
        raise TypeError(f"{name}.{ATTRIBUTE} is not an EngineSource, got {found!r}")
    return found


def place_of(config: Any) -> tuple[str, Path]:
    """Return the module of the engine of some settings, or of their class, and its file."""
    cls = config if inspect.isclass(config) else type(config)
    holder = next(each for each in inspect.getmro(cls) if ATTRIBUTE in vars(each))
    module, file = sys.modules[holder.__module__], source_of(config).file
    package = module.__package__ or ""
    path = Path(module.__file__ or "").with_name(file)
    return importlib.util.resolve_name(f".{path.stem}", package) if package else path.stem, path
