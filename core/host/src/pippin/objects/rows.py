"""Rows of numbers that an object lists itself, or names the file of."""

from __future__ import annotations

from typing import Any

import numpy as np
from pippin.array_files import read_table


def listed_rows(rows: tuple[Any, ...] | str, where: str, columns: int = 3) -> np.ndarray:
    """Return rows that a file lists itself, or a table beside it, shape [rows, columns]."""
    return read_table(rows, where, (columns,)) if isinstance(rows, str) else np.array(rows)
