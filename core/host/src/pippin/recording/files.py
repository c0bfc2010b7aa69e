"""Disk space and locks of the files that recorders write."""

from __future__ import annotations

import errno
import shutil
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pippin.errors import ConfigError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of a system without room for the rest of a file."""


def is_full(error: OSError) -> bool:
    """Return whether an error says that there is no room for the rest of a file."""
    return error.errno in _FULL


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
    """Refuse a file that a process still writes; `where` is the beginning of the error."""
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
