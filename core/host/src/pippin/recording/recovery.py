"""Recovery of recordings whose process was killed: files that were cut off are repaired."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pippin.errors import ConfigError

from .files import refuse_locked
from pippin_record.hdf5 import file as hdf5
from pippin_record.mcap import file as mcap
from .npz import file as npz

_REPAIRS: dict[str, Callable[[Path], tuple[Path, int]]] = {
    ".rows": npz.repair,
    ".h5": hdf5.repair,
    ".mcap": mcap.repair,
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
    repair = _REPAIRS.get(path.suffix)
    if repair is None or not path.is_file():
        raise ConfigError(f"{path}: not a recording; name a file that ends with .npz, {', '.join(_REPAIRS)}")
    refuse_locked(path)
    return repair(path)
