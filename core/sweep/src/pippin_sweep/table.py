"""Tables of results: a row for each variant, as CSV or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pippin.extras import import_library


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows into a CSV file; a value that a row does not have is an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _columns(rows), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows into a Parquet file. A column of several types becomes text.

    Raises:
        PluginError: The extra `parquet` is not installed.
    """
    arrow, parquet = import_library("pyarrow", "parquet"), import_library("pyarrow.parquet", "parquet")
    columns = {name: _of_one_type([row.get(name) for row in rows]) for name in _columns(rows)}
    parquet.write_table(arrow.table(columns), path)


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _of_one_type(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds == {int, float}:
        return values
    return [None if value is None else str(_cell(value)) for value in values]
