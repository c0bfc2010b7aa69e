"""`pippin fuzz`: random mechanisms and robot files on a solver, beside MuJoCo."""

from __future__ import annotations

import collections
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from pippin import ConfigError
from pippin.console import PATH, json_list, new_table, overrides, print_table, shown_progress

BROKEN = 3


@click.command()
@click.argument("solver")
@click.option("--files", "forms", metavar="FORMAT,...", help="Draw robot files: mjcf, urdf, usd; else mechanisms.")
@click.option("--without", "without", metavar="WORD,...", default="", help="Leave out statements: tendon,margin.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first seed.")
@click.option("--count", type=click.IntRange(min=1), default=100, show_default=True, help="Number of seeds.")
@click.option("--peel/--no-peel", "is_peeled", default=True, help="Draw again without what is told or refused.")
@click.option("--tolerance", type=float, default=1e-3, show_default=True, help="Error of soft joints [m, rad].")
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@click.option("--out", type=PATH, metavar="FOLDER", help="Folder of findings; one with verdicts is continued.")
@overrides("Set a key of the configuration, such as solver.iterations=8.")
@json_list
def fuzz(
    solver: str,
    forms: str | None,
    without: str,
    seed: int,
    count: int,
    processes: int,
    out: Path | None,
    overrides: tuple[str, ...],
    as_json: bool,
    **how: Any,
) -> None:
    """Move random mechanisms with SOLVER, and compare them with MuJoCo's engine in double precision.

    Mechanisms have what SOLVER claims: skew joints, turned frames, free and ball joints, springs, dampers, rotor
    inertias. Each moves with three steps. One that comes closer and closer to another motion than MuJoCo's is wrong.

    With --files, whole robot files are drawn. SOLVER may move one as MuJoCo does (equal), tell in a note why not
    (told), or refuse it. Then the file is drawn again without what the note or the refusal names, until nothing is
    left to tell: a silent difference behind it is found, too.

    A finding is shrunk to a few lines. The folder, by default runs/fuzz-SOLVER-DATE-TIME, has for each one a
    configuration, the robot file and the text of an issue. The exit code is 3 if there are findings.
    """
    chosen = ("mechanisms",) if forms is None else tuple(forms.split(","))
    if not how["tolerance"] > 0.0:
        raise ConfigError(f"--tolerance: {how['tolerance']:g} is not above 0; give a distance [m, rad]")
    name = solver.rpartition(":")[2]
    out = Path("runs") / f"fuzz-{name}-{datetime.now():%Y%m%d-%H%M%S}" if out is None else out
    found: list[Any] = []
    with shown_progress(is_stdout_reserved=as_json) as progress:
        from pippin_fuzz.run_fuzz import Plan
        from pippin_fuzz.run_fuzz import fuzz as run

        for form in chosen:
            words = tuple(each for each in without.split(",") if each)
            plan = Plan(solver=solver, overrides=overrides, form=form, without=words, **how)
            folder = out if len(chosen) == 1 else out / form
            with progress.phase(form):
                found += run(plan, range(seed, seed + count), folder, processes=processes, progress=progress)
        if any(each.finding for each in found):
            progress.note(f"findings: {out}")
    if as_json:
        import attrs

        click.echo(json.dumps([attrs.asdict(each) for each in found], indent=2))
    else:
        _print(found)
    if any(each.finding for each in found):
        sys.exit(BROKEN)


def _print(found: list[Any]) -> None:
    counts = collections.Counter((each.form, each.word) for each in found)
    table = new_table("files", "verdict", "count")
    for (form, word), count in sorted(counts.items()):
        table.add_row(form, word, str(count))
    notes = [
        f"{each.finding}: {each.word}, error {each.error:.2g}, allowed {each.allowed:.2g}"
        for each in found
        if each.finding
    ]
    print_table(table, notes)
