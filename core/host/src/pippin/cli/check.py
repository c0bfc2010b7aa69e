"""`pippin check`: the solvers that can run a file, and a first step with the file's own solver."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click
from pippin.catalog.entries import Catalog
from pippin.catalog.evidence import CheckEvidence
from pippin.catalog.outside import untrusted
from pippin.config import load
from pippin.console import PATH, changes, new_table, print_table, shown_progress, solvers
from pippin.console.options import json_list, trust
from pippin.support.features import FEATURES

if TYPE_CHECKING:
    from pippin.inspection.check import Verdict

UNABLE = 2


@click.command()
@click.argument("file", type=PATH)
@solvers("check")
@changes()
@trust
@json_list
def check(file: Path, solvers: tuple[str, ...], overrides: tuple[str, ...], trust: bool, as_json: bool) -> None:
    """List the solvers that can run FILE, and tell what a run of FILE would report in its first step.

    The features of FILE are compared with the declaration of each solver, and the solvers that have them are built:
    this finds one that refuses the scene. The solver of FILE, or each solver given by --solver, takes a step, too: this
    finds buffers that are too small, joints that start outside their limits, and shapes that overlap at the start. A
    solver that FILE does not name keeps what --set solver.type would keep of its settings, and has its defaults else.

    The exit code is 2 if a solver given by --solver cannot run FILE; without --solver, if the solver of FILE cannot.
    """
    # The result is the table: progress goes to standard error.
    with shown_progress(is_stdout_reserved=True) as progress, untrusted(*overrides, *solvers, is_trusted=trust):
        with progress.phase("read"):
            config = load(file, overrides)
        own = config.solver
        from pippin.studies import import_newton

        import_newton(config, progress)
        from pippin.inspection.check import check_solvers

        with progress.phase("check"):
            named = solvers or (() if own is None else (own.type,))
            every = dict.fromkeys((*Catalog.installed().names_without_settings("solver"), *named))
            verdicts = check_solvers(file, overrides, solvers or every, named)
    if as_json:
        click.echo(json.dumps([{**attrs.asdict(each), "is_able": each.is_able} for each in verdicts], indent=2))
    else:
        find, tried = Catalog.installed().find, [verdict.solver for verdict in verdicts if verdict.is_tried]
        _print(verdicts, [f"{name}: {CheckEvidence.told(find('solver', name))}" for name in tried])
    if any(not verdict.is_able for verdict in verdicts if verdict.solver in named):
        sys.exit(UNABLE)


def _print(verdicts: Sequence[Verdict], evidence: Sequence[str]) -> None:
    table = new_table("solver", "runs it", "does not support", "would leave out")
    for verdict in verdicts:
        answer, style = ("yes", None) if verdict.is_able else ("no", "red")
        table.add_row(
            verdict.solver, answer, ", ".join(verdict.missing), ", ".join(verdict.ignored_features), style=style
        )
    users = {
        name: text
        for verdict in verdicts
        for name, text in [*verdict.missing.items(), *verdict.ignored_features.items()]
    }
    lines = [f"{name}: used by {text}" for name, text in users.items()]
    if any(name in FEATURES for verdict in verdicts for name in verdict.missing):
        lines.append("list in simulation.accept_unsupported which of these features a solver may ignore")
    print_table(table, [*lines, *_by_solvers(verdicts), *evidence])


def _by_solvers(verdicts: Sequence[Verdict]) -> list[str]:
    users: dict[str, dict[str, None]] = {}
    for verdict in verdicts:
        for text in (*(f"note: {note}" for note in verdict.notes), *verdict.faults):
            users.setdefault(text, {})[verdict.solver] = None
    return [text if len(names) == len(verdicts) > 1 else f"{', '.join(names)}: {text}" for text, names in users.items()]
