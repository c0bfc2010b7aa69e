"""Files of plugins: their paths, whether they can be written, and whether they can be unpacked."""

from __future__ import annotations

import glob
import os
import time
from contextlib import suppress
from pathlib import Path

from .errors import ConfigError

__all__ = ["output_path", "refuse_expansion", "refuse_taken", "refuse_unwritable"]

_GIB = 2**30

_GROWTH_PERIOD = 60.0
"""Time after which a file that is being written has changed [s]."""


def output_path(folder: Path | None, path: str | os.PathLike[str]) -> Path:
    """Return the path of an output file, which can be written: a relative path is in the folder of the simulation.

    Nothing is created: who opens the file makes the folders above it, `path.parent.mkdir(parents=True, exist_ok=True)`.
    A `pippin.recording.Recorder` does it before it calls `open`.

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


def refuse_taken(folder: Path, where: str) -> None:
    """Refuse a folder for new files that is a file or holds something.

    Args:
        folder: The folder; it need not exist.
        where: Beginning of the error, such as `--out`.

    Raises:
        ConfigError: There is something.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{where}: '{folder}' is a file; choose another folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise ConfigError(f"{where}: '{folder}' is not empty; choose another folder, or empty this one")


def refuse_unwritable(path: Path, where: str = "path") -> None:
    """Refuse a file that cannot be written; nothing is created.

    Args:
        path: The file.
        where: Key or argument that names it, which begins the error.

    Raises:
        ConfigError: It is a folder, or there is no permission to write it.
    """
    if path.is_dir():
        raise ConfigError(f"{where}: '{path}' is a folder; name a file")
    if path.exists():
        if not os.access(path, os.W_OK):
            raise ConfigError(f"{where}: '{path}' cannot be written; change its permissions, or choose another file")
        return
    nearest = next(parent for parent in path.parents if parent.exists())
    if not nearest.is_dir():
        raise ConfigError(f"{where}: '{path}' cannot be created, as '{nearest}' is a file; choose another path")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ConfigError(f"{where}: '{nearest}' cannot be written; change its permissions, or choose another path")


def partial_path(target: Path) -> Path:
    """Return a hidden path beside a file, at which it is written before it gets its name.

    What processes of this machine left there that were killed is removed.
    """
    for left in target.parent.glob(f".{glob.escape(target.name)}.*"):
        with suppress(OSError):
            if _is_left(left):
                left.unlink()
    return target.with_name(f".{target.name}.{os.getpid()}")


def _is_left(partial: Path) -> bool:
    """Tell whether nobody writes a file any more: its process is gone here, and on other machines it would grow."""
    number = partial.suffix[1:]
    if os.name != "posix" or not number.isdigit() or time.time() - partial.stat().st_mtime < _GROWTH_PERIOD:
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    return False


def physical_memory() -> int | None:
    """Return the memory of this machine [B]; None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def refuse_expansion(size: float) -> None:
    """Refuse a compressed file before it is unpacked, if it would take half of this machine's memory.

    Args:
        size: What it would take [B].

    Raises:
        ValueError: It would take so much.
    """
    memory = physical_memory()
    if memory is not None and size > memory / 2:
        raise ValueError(f"it unpacks to {size / _GIB:.3g} GiB, and this machine has {memory / _GIB:.3g} GiB of memory")
