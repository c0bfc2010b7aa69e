"""Files of recorders and viewers: their place, and the room that is left for them."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pippin.errors import ConfigError

if TYPE_CHECKING:
    from pippin.binding import Host

__all__ = ["is_full", "locked", "place", "refuse_locked", "refuse_unwritable", "room_for"]


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of a system without room for the rest of a file."""


def is_full(error: OSError) -> bool:
    """Return whether an error says that there is no room for the rest of a file."""
    return error.errno in _FULL


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


def room_for(path: Path) -> float:
    """Return how many more bytes a file can take: of its disk, and of the limit on the size of files."""
    free = shutil.disk_usage(path.parent).free
    limit = _size_limit()
    if limit is None:
        return free
    size = path.stat().st_size if path.exists() else 0
    return min(free, limit - size)


def locked(path: Path) -> BinaryIO | None:
    """Return a file that is being written, locked until it is closed; None for a recorder that makes no file."""
    if not path.exists():
        return None
    file = path.open("rb")
    with suppress(OSError):
        _lock(file)
    return file


def refuse_locked(path: Path, where: str = "") -> None:
    """Refuse a file that a process still writes.

    Args:
        path: The file.
        where: Beginning of the error.

    Raises:
        ConfigError: The file is locked.
    """
    with path.open("rb") as file:
        try:
            _lock(file)
        except BlockingIOError as error:
            raise ConfigError(
                f"{where}{path}: a process still writes it; wait for the end of the run, or stop it"
            ) from error
        except OSError:  # the file system has no locks
            return


def _lock(file: BinaryIO) -> None:
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows keeps others from replacing an open file
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _size_limit() -> int | None:
    """Return the largest size of a file that this process may write [bytes]; None without a limit."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if limit == resource.RLIM_INFINITY else limit
