"""Recovery of recordings whose process was killed: the rows that were written become a complete file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pippin.errors import ConfigError

from . import hdf5, mcap, npz
from .files import refuse_locked

__all__ = ["recover"]

_MENDERS: dict[str, Callable[[Path], tuple[Path, int]]] = {
    ".rows": npz.mend,
    ".h5": hdf5.mend,
    ".mcap": mcap.mend,
}


def recover(path: Path) -> tuple[Path, int]:
    """Complete a recording; return its file, and the number of its rows. A complete recording stays as it is.

    Args:
        path: The file that was left; `NAME.npz` also stands for the rows in `NAME.npz.rows`.

    Raises:
        ConfigError: The file does not exist, its beginning is damaged, or a process still writes it.
        PluginError: The library of the format is not installed.
    """
    rows = npz.spool_of(path)
    if path.suffix == ".npz" and rows.is_file():
        path = rows
    if path.suffix == ".npz" and path.is_file():
        return path, len(npz.NpzFile(path).column("time"))
    mend = _MENDERS.get(path.suffix)
    if mend is None or not path.is_file():
        raise ConfigError(f"{path}: no recording; name a file that ends with .npz, {', '.join(_MENDERS)}")
    refuse_locked(path)
    return mend(path)
