"""Files that plugins write: their paths, and whether they can be written."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import ConfigError

__all__ = ["output_path"]


def output_path(folder: Path | None, path: str | os.PathLike[str]) -> Path:
    """Return the path of an output file, which can be written: a relative path is in the folder of the simulation.

    Args:
        folder: `simulation.folder`.
        path: The path in the configuration.

    Raises:
        ConfigError: The path is relative, and the simulation has no folder; or the file cannot be written.
    """
    target = Path(path).expanduser()
    if not target.is_absolute():
        if folder is None:
            raise ConfigError(
                f"path: '{target}' is relative, and the simulation has no folder; pass folder= to the simulation, or"
                " write an absolute path"
            )
        target = folder / target
    refuse_unwritable(target)
    return target


def refuse_unwritable(path: Path) -> None:
    """Refuse a file that cannot be written; nothing is created."""
    if path.is_dir():
        raise ConfigError(f"path: '{path}' is a folder; name a file")
    if path.exists():
        if not os.access(path, os.W_OK):
            raise ConfigError(f"path: '{path}' cannot be written; change its permissions, or choose another file")
        return
    nearest = next(parent for parent in path.parents if parent.exists())
    if not nearest.is_dir():
        raise ConfigError(f"path: '{path}' cannot be created, as '{nearest}' is a file; choose another path")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ConfigError(f"path: '{nearest}' cannot be written; change its permissions, or choose another path")
