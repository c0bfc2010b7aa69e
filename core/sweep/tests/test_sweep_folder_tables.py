"""Tables of results, read back."""

import csv

import pytest
from pippin_sweep.sweep_folder import write_csv, write_parquet

ROWS = [
    {"id": "a", "solver.type": "xpbd", "captured": True, "drift": 0.5, "key": 1},
    {"id": "b", "solver.type": "mujoco", "reason": 'it, "broke"', "captured": None, "key": "auto"},
]


def test_a_csv_file_has_every_column_and_empty_cells_for_what_is_missing(tmp_path):
    write_csv(tmp_path / "table.csv", ROWS)

    with (tmp_path / "table.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    assert first == {
        "id": "a",
        "solver.type": "xpbd",
        "captured": "true",
        "drift": "0.5",
        "key": "1",
        "reason": "",
    }
    assert (second["reason"], second["captured"], second["drift"]) == ('it, "broke"', "", "")


def test_a_parquet_file_keeps_numbers_and_makes_mixed_columns_text(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")

    write_parquet(tmp_path / "table.parquet", ROWS)

    columns = parquet.read_table(tmp_path / "table.parquet").to_pydict()
    assert columns["drift"] == [0.5, None]
    assert columns["key"] == ["1", "auto"]
    assert columns["captured"] == [True, None]
