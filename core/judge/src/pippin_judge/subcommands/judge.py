"""`pippin judge`: find the solver and the law of actuators that explain logs of a robot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pippin.console import PATH, changes, json_line, new_table, out, print_table, shown_progress


@click.command()
@click.argument("file", type=PATH)
@click.option("--log", "logs", type=PATH, multiple=True, help="A log, or a pattern of logs; besides those of fit.logs.")
@click.option("--solver", "solvers", multiple=True, metavar="NAME", help="A solver; by default that of FILE.")
@click.option(
    "--law",
    "laws",
    multiple=True,
    metavar="NAME",
    help="pd, dc-motor, servo-m1 to servo-m6, servo for all six, file, or a TOML file; by default all.",
)
@click.option("--holdout", type=PATH, multiple=True, help="A log that no fit sees, or a pattern; it judges.")
@click.option(
    "--noise",
    type=click.FloatRange(min=0.0, min_open=True),
    metavar="S",
    help="Standard deviation of the positions [rad or m], which alone count then; by default estimated.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the samples of intervals."
)
@click.option(
    "--processes",
    type=lambda text: int(text) if text.isdecimal() else text,  # the judgement refuses other texts
    metavar="N",
    default="1",
    show_default=True,
    help="Split the worlds of each fit over N processes, 8 at most, or auto: as many as there are cores.",
)
@changes(has_worlds=False)
@out(may_continue=True)
@json_line()
def judge(file: Path, logs: tuple[Path, ...], overrides: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Find the solver and the law of actuators that explain logs of a robot.

    Each solver with each law is a candidate. All are fitted to the same windows of the logs, as the table [fit] of FILE
    says, and are judged by windows that no fit has seen: those of --holdout, fit.validation_logs and fit.validation.

    A law replaces that of each group that [fit.parameters] names, and starts from the numbers of FILE. What varies
    besides it, such as armature, offsets, masses and the delay, is as in FILE. A file given to --law extends FILE, and
    has other tables [actuators] and [fit.parameters].

    The folder, by default runs/NAME-DATE-TIME, has the file of the winner (winner.toml), which extends FILE, a summary
    (summary.json), a page with errors, intervals and times (report.html), and the fit of each candidate (candidates).
    Ctrl-C ends it, and what was found is written. The same command with --out continues there. --processes divides the
    work of a solver that uses one core; the result has the bits of one process.

    The winner has the fewest values of the candidates that cannot be told apart from the one with the least error.

    The exit code is 4 if none explains the logs: more than 5 σ are left.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            from pippin_judge.run_judge import judge as judge_file
        found = judge_file(file, logs, overrides, **options)
        if not as_json:
            progress.note(f"folder: {found.folder}")
    if as_json:
        click.echo(json.dumps(found.summary(), ensure_ascii=False))
    else:
        _print(found)
    if not found.is_explained:
        raise click.exceptions.Exit(4)


def _print(found: Any) -> None:
    from rich.markup import escape

    from pippin_judge.judge_page import HEADS, answer, rows

    shown = new_table(*(escape(head) for head in HEADS))
    for row in rows(found):
        shown.add_row(*row, style="red" if row[-1] == "refused" else None)
    refused = [f"{each.name}: {line}" for each in found.candidates for line in each.reason.splitlines()]
    print_table(shown, [*refused, *answer(found)])
