"""Files of numbers that a scene names: poses and heights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pippin.array_files import read_array, read_arrays
from pippin.config.files import find_file
from pippin.errors import ConfigError


def read_table(path: str, where: str, columns: tuple[int, ...] = ()) -> np.ndarray:
    """Return the rows of a file `.npy`, `.csv` with commas, or `.npz` with `times` and `values`; shape [rows, columns].

    Args:
        path: The file, as a configuration names it.
        where: Key path of the file, for errors.
        columns: Permitted numbers of columns; by default any.

    Raises:
        ConfigError: The file is missing, or does not hold rows of finite numbers.
    """
    file = find_file(path, where)
    try:
        rows = _rows(file)
    except (OSError, ValueError, LookupError) as error:
        raise ConfigError(f"{where}: {str(file)!r} holds no rows of numbers ({error}); write .npy or .csv") from error
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all() or (columns and rows.shape[1] not in columns):
        wanted = f" of {' or '.join(map(str, columns))} columns" if columns else ""
        raise ConfigError(f"{where}: {str(file)!r} must hold rows{wanted} of finite numbers, got {list(rows.shape)}")
    return rows.astype(float)


def _rows(file: Path) -> np.ndarray:
    if file.suffix == ".csv":
        return np.loadtxt(file, delimiter=",", ndmin=2)
    if file.suffix == ".npz":
        arrays = read_arrays(file)
        rows = np.column_stack([arrays["times"], arrays["values"]])
    else:
        rows = read_array(file)
    if rows.dtype.kind not in "biuf":
        raise ValueError(f"it is of type {rows.dtype}")
    return rows


def listed_rows(rows: tuple[Any, ...] | str, where: str, columns: int = 3) -> np.ndarray:
    """Return rows that a file lists itself, or a table beside it, shape [rows, columns]."""
    return read_table(rows, where, (columns,)) if isinstance(rows, str) else np.array(rows)
