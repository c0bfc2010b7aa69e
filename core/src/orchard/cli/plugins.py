"""`orchard plugins`: what is installed, read without importing any of it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click
from orchard.catalog import Catalog

if TYPE_CHECKING:
    from orchard.catalog import Entry
    from rich.table import Table

FIELDS = ("kind", "name", "distribution", "version", "state")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of a table.")
def plugins(as_json: bool) -> None:
    """List the installed plugins, and what is wrong with the broken ones."""
    entries = Catalog.installed().entries
    if as_json:
        click.echo(json.dumps([_fields(entry) for entry in entries], indent=2))
    else:
        _print(entries)


def _fields(entry: Entry) -> dict[str, str | None]:
    return {field: getattr(entry, field) for field in (*FIELDS, "problem")}


def _print(entries: tuple[Entry, ...]) -> None:
    from rich.console import Console

    # A pipe has no width: without one, rich would fold the columns at 80 characters.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 1000)
    console.print(_table(entries))
    for entry in entries:
        if entry.problem:
            console.print(f"{entry}: {entry.problem}", markup=False, soft_wrap=True)


def _table(entries: tuple[Entry, ...]) -> Table:
    from rich.table import Table

    table = Table(*FIELDS, box=None, pad_edge=False)
    for entry in entries:
        row = [str(getattr(entry, field)) for field in FIELDS]
        table.add_row(*row, style=None if entry.state == "ok" else "red")
    return table
