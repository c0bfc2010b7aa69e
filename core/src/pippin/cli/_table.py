"""Tables of the commands, with lines of text below them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table


def new_table(*columns: str) -> Table:
    """Return a table without a frame."""
    return Table(*columns, box=None, pad_edge=False)


def expectations(verdicts: Iterable[Any]) -> Table:
    """Return a table of what logs can tell of each value, from `FitVerdict`s."""
    table = new_table("parameter", "joint", "file", "expected ± 95 %", "verdict")
    for each in verdicts:
        coupled = f", coupled to {' and '.join(each.coupled)}" if each.coupled else ""
        table.add_row(each.key, each.name, f"{each.start:.5g}", f"{each.half_width:.2g}", each.verdict + coupled)
    return table


def print_table(table: Table, lines: Iterable[str] = ()) -> None:
    """Print a table, and lines below it as they are."""
    # A pipe has no width: without one, rich would fold the columns at 80 characters.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 1000)
    console.print(table)
    for line in lines:
        console.print(line, markup=False, emoji=False, soft_wrap=True)
