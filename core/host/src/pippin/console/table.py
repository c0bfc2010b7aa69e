"""Tables of the commands, with lines of text below them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table


def new_table(*columns: str) -> Table:
    """Return a table without a frame, for `print_table`.

    Args:
        *columns: The heads of the columns.
    """
    return Table(*columns, box=None, pad_edge=False)


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
        console.print(line, markup=False, emoji=False, soft_wrap=True)
