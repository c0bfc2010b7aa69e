"""Logs of columns: text with commas, and Parquet files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pippin.extras import import_library
from pippin.files import refuse_expansion

from .configs import CsvConfig, ParquetConfig

_COLUMNS = "the columns 'time', 'position.NAME', 'command.NAME' and perhaps 'velocity.NAME'"


class CsvReader:
    """Reads a text file with a line of names and numbers between commas."""

    form = f"a CSV file has {_COLUMNS}"

    def __init__(self, config: CsvConfig) -> None:
        self._config = config

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of the file."""
        with path.open(encoding="utf-8", newline="") as stream:
            names = [name.strip() for name in next(csv.reader(stream), [])]
            rows = np.loadtxt(stream, delimiter=",", ndmin=2)
        if rows.size and rows.shape[1] != len(names):
            raise ValueError(f"it has {len(names)} names and {rows.shape[1]} columns")
        yield _by_joint(dict(zip(names, rows.T, strict=True)), self._config)


class ParquetReader:
    """Reads a Parquet file."""

    form = f"a Parquet file has {_COLUMNS}"

    def __init__(self, config: ParquetConfig) -> None:
        self._config = config
        self._library: Any = import_library("pyarrow.parquet", "parquet")

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of the file."""
        table = read_table(self._library.ParquetFile(path))
        columns = {name: np.asarray(table.column(name), dtype=float) for name in self._wanted(table.column_names)}
        yield _by_joint(columns, self._config)

    def _wanted(self, names: list[str]) -> list[str]:
        own = self._config
        return [
            name for name in names if name == own.time or name.startswith((own.position, own.velocity, own.command))
        ]


def read_table(file: Any, names: list[str] | None = None) -> Any:
    """Return the table of an open Parquet file, or some of its columns.

    Raises:
        ValueError: Unpacked, it would take half of this machine's memory.
    """
    groups = (file.metadata.row_group(index) for index in range(file.metadata.num_row_groups))
    chunks = (group.column(index) for group in groups for index in range(group.num_columns))
    refuse_expansion(8 * sum(chunk.num_values for chunk in chunks))
    return file.read(columns=names)


def _by_joint(columns: Mapping[str, np.ndarray], config: CsvConfig | ParquetConfig) -> dict[str, Any]:
    joints = [name.removeprefix(config.position) for name in columns if name.startswith(config.position)]
    if not joints:
        raise LookupError(f"no column begins with {config.position!r}")
    found: dict[str, Any] = {"joints": joints, "time": columns[config.time]}
    for kind in ("position", "velocity", "command"):
        own = [getattr(config, kind) + joint for joint in joints]
        if kind != "velocity" or any(name in columns for name in own):
            found[kind] = np.stack([columns[name] for name in own], axis=1)
    return found
