"""Files of viewers: their place, and the libraries that write them."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from pippin.errors import ConfigError, PluginError

if TYPE_CHECKING:
    from pippin.binding import Host

__all__ = ["library", "place", "refuse_unwritable"]


def place(simulation: Host, path: str | os.PathLike[str]) -> Path:
    """Return the place of a file: a relative path is in the folder of the simulation.

    Raises:
        ConfigError: The path is relative, and the simulation has no folder.
    """
    target = Path(path).expanduser()
    if target.is_absolute():
        return target
    if simulation.folder is None:
        raise ConfigError(
            f"path: '{target}' is relative, and the simulation has no folder; pass folder= to the simulation, or write"
            " an absolute path"
        )
    return simulation.folder / target


def refuse_unwritable(path: Path) -> None:
    """Refuse a file that cannot be written; nothing is made.

    Raises:
        ConfigError: The path is a folder, or the nearest folder that exists cannot be written.
    """
    if path.is_dir():
        raise ConfigError(f"path: '{path}' is a folder; name a file")
    if path.exists():
        if not os.access(path, os.W_OK):
            raise ConfigError(f"path: '{path}' cannot be written; change its permissions, or choose another file")
        return
    nearest = next(parent for parent in path.parents if parent.exists())
    if not nearest.is_dir():
        raise ConfigError(f"path: '{path}' cannot be made, as '{nearest}' is a file; choose another place")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ConfigError(f"path: '{nearest}' cannot be written; change its permissions, or choose another place")


def library(name: str, extra: str) -> ModuleType:
    """Import a library of an extra of Pippin.

    Args:
        name: Name of the module.
        extra: Name of the extra.

    Raises:
        PluginError: The library is not installed, or broken.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise PluginError(
            f"'{name}' cannot be imported ({error}); install it by `uv pip install 'pippin[{extra}]'`"
        ) from error
