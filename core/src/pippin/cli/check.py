"""`pippin check`: the features of a file that each solver supports, before anything is compiled."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click
from pippin.catalog.entries import Catalog
from pippin.config import load

if TYPE_CHECKING:
    from pippin.analysis.check import Verdict

UNABLE = 2


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--solver", "solvers", multiple=True, metavar="NAME", help="A solver to check; by default all.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Replace a value of the file.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of a table.")
def check(file: Path, solvers: tuple[str, ...], overrides: tuple[str, ...], as_json: bool) -> None:
    """List the solvers that can run FILE, and the features that each would ignore.

    The check compares the features of FILE with each solver's declaration. A solver that FILE names has the settings of
    FILE, every other solver has its defaults. The exit code is 2 if a solver given by --solver cannot run FILE; without
    --solver, if the solver of FILE cannot.
    """
    from pippin.analysis.check import check_solvers
    from pippin.devices import warp_quiet

    own = load(file, overrides).solver
    with warp_quiet():
        verdicts = check_solvers(file, overrides, solvers or Catalog.installed().names("solver"))
    if as_json:
        click.echo(json.dumps([_fields(verdict) for verdict in verdicts], indent=2))
    else:
        _print(verdicts)
    asked = solvers or (() if own is None else (own.type,))
    if any(not verdict.is_able for verdict in verdicts if verdict.solver in asked):
        sys.exit(UNABLE)


def _fields(verdict: Verdict) -> dict[str, object]:
    return {**attrs.asdict(verdict), "is_able": verdict.is_able}


def _print(verdicts: Sequence[Verdict]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 1000)
    table = Table("solver", "runs it", "does not support", "would leave out", box=None, pad_edge=False)
    for verdict in verdicts:
        answer, style = ("yes", None) if verdict.is_able else ("no", "red")
        table.add_row(verdict.solver, answer, ", ".join(verdict.missing), ", ".join(verdict.left_out), style=style)
    console.print(table)
    users = {name: text for verdict in verdicts for name, text in [*verdict.missing.items(), *verdict.left_out.items()]}
    for line in (f"{name}: used by {text}" for name, text in users.items()):
        console.print(line, markup=False, soft_wrap=True)
    for line in (f"{verdict.solver}: {fault}" for verdict in verdicts for fault in verdict.faults):
        console.print(line, markup=False, soft_wrap=True)
