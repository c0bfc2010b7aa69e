"""Recovery of recordings whose process was killed: files that were cut off are repaired."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pippin.catalog import Catalog
from pippin.errors import ConfigError

from .files import refuse_locked
from .reading import is_readable, open_recording, readable_suffixes

_UNFINISHED = ".rows"
"""Suffix of the rows beside a file that is made at the end."""


def recover(path: Path) -> tuple[Path, int]:
    """Complete a recording; return its file, and the number of its rows. A complete recording stays as it is.

    Args:
        path: The file that was left; `NAME.npz` also stands for the rows in `NAME.npz.rows`.

    Raises:
        ConfigError: The file does not exist, its beginning is damaged, or a process still writes it.
        PluginError: The library of the format is not installed.
    """
    rows = path.with_name(path.name + _UNFINISHED)
    path = rows if rows.is_file() else path
    if not is_readable(path) or not path.is_file():
        raise ConfigError(f"{path}: not a recording; name a file that ends with {', '.join(readable_suffixes())}")
    reader: Any = Catalog.installed().find("reader", path.suffix[1:]).load()
    repair = getattr(reader, "repair", None)
    if repair is None:
        return path, len(open_recording(path).column("time"))
    refuse_locked(path)
    return repair(path)
