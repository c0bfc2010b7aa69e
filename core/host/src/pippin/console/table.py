"""Tables of the commands, with lines of text below them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from pippin.spelling import printable
from rich.console import Console
from rich.table import Table


def new_table(*columns: str) -> Table:
    """Return a table without a frame, for `print_table`.

    Args:
        *columns: The heads of the columns.
    """
    return _Table(*columns, box=None, pad_edge=False)


class _Table(Table):
    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row; a name in it commands no terminal."""
        super().add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells), **options)


def print_table(table: Table, lines: Iterable[str] = ()) -> None:
    """Print a table.

    Args:
        table: The table.
        lines: Lines below it, printed as they are.
    """
    # A pipe has no width: without one, rich would fold the columns at 80 characters.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 1000)
    console.print(table)
    for line in lines:
        console.print("\n".join(map(printable, line.splitlines())), markup=False, emoji=False, soft_wrap=True)
