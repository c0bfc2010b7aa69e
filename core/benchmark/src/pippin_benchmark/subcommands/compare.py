"""`pippin compare`: results of several solvers on one file, in one table and on one page."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from pippin import ConfigError
from pippin.console import (
    PATH,
    changes,
    duration,
    json_line,
    new_table,
    out,
    print_table,
    shown_progress,
    solvers,
    steps,
)

import pippin_benchmark

from .benchmark import print_benchmark

UNABLE, FAILED = 2, 4


@click.command()
@click.argument("file", type=PATH)
@solvers("compare")
@steps
@duration
@changes()
@click.option("--dt", "ladder", metavar="SECONDS,…", help="Physics steps: error against cost over all of them.")
@click.option(
    "--reference",
    metavar="NAME[@DT]",
    help="The solver that distances refer to; by default the first. With --dt: SOLVER@DT.",
)
@click.option("--limit", "limits", multiple=True, metavar="FIGURE=VALUE", help="Fail if a figure is larger.")
@click.option(
    "--tolerance",
    "tolerances",
    multiple=True,
    metavar="[QUANTITY=]VALUE",
    help="Fail if a quantity, or any, differs by more from the reference.",
)
@click.option(
    "--timeout", type=float, default=900.0, metavar="SECONDS", show_default=True, help="Longest time for a solver [s]."
)
@out("The folder of results")
@json_line("Print")
def compare(
    file: Path,
    solvers: tuple[str, ...],
    overrides: tuple[str, ...],
    limits: tuple[str, ...],
    tolerances: tuple[str, ...],
    ladder: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Run FILE with one solver after the other, each in a fresh process, and measure them in the same way.

    \b
    world-steps/s   physics steps of all worlds per second, after the first control step
    first step      from the start of the process to the end of its first control step
    energy drift    largest change of kinetic energy and energy of gravity since the start, less the
                    work of actuators, in any world; none if contacts, friction or other things do
                    work, too, or springs and deformed matter store some; relative: in units of the
                    largest kinetic energy of the reference
    limits          largest violation of the limits of a joint coordinate
    joint gap       distance between the two anchors of the worst joint
    penetration     of the deepest contact that Newton's collision pipeline finds
    distance        to the reference, root mean square over bodies and particles, at worst
    diverged        first control step whose result was not finite or beyond the bounds
    ignores         features of the scene that the solver ignores

    The solver of FILE ignores only what the file accepts (simulation.accept_unsupported). Other solvers may also ignore
    features that only change numbers, such as armature.

    A second table has the largest differences to the reference, of any body, particle and world: of places until
    something touches, always, and at the end; of energy, penetration and joint gap. --tolerance 1e-6 is for each of
    them, --tolerance energy=0.01 for one, by its name in the JSON output.

    --solver NAME@FOLDER is a solver with its engine in an environment that `pippin env` has made, so that two versions
    of an engine can be compared.

    The exit code is 4 if a solver failed, exceeds a limit or differs by more than a tolerance, else 2 if a solver given
    by --solver cannot run FILE. A limit uses the name of a figure in the JSON output: --limit distance=0.01. The
    folder, by default runs/NAME-DATE-TIME, contains all figures (comparison.json), the measurements over time
    (series.npz) and a page with the tables and charts, for any browser (comparison.html).

    With --dt, each solver runs FILE over a ladder of steps, and its error is the distance to --reference SOLVER@DT: the
    table, the page, the JSON and the CSV are those of `pippin benchmark`. A control step of several physics steps keeps
    its length. An error is lost above --limit distance=VALUE, by default a hundredth of the way of the reference.
    """  # noqa: D301  (click's own mark for a paragraph that is not wrapped)
    allowed = _values("--tolerance", [each if "=" in each else f"={each}" for each in tolerances])
    if ladder is not None:
        if allowed:
            raise ConfigError("--tolerance: is for runs with one step; leave it out, or --dt")
        _compare_steps(file, solvers, overrides, ladder, as_json, limits=_values("--limit", limits), **options)
        return
    with shown_progress(is_stdout_reserved=as_json) as progress:
        options |= {"limits": _values("--limit", limits), "tolerances": allowed}
        found = pippin_benchmark.compare(file, solvers, overrides, **options)
        if not as_json:
            progress.note(f"folder: {found.folder}")
    if as_json:
        click.echo(json.dumps({**found.summary(), "folder": str(found.folder)}, ensure_ascii=False))
    else:
        _print(found)
    outcomes = {run.outcome for run in found.solvers.values()}
    if found.exceeded or "failed" in outcomes:
        sys.exit(FAILED)
    if solvers and "unable" in outcomes:
        sys.exit(UNABLE)


def _compare_steps(
    file: Path,
    solvers: tuple[str, ...],
    overrides: tuple[str, ...],
    ladder: str,
    as_json: bool,
    steps: int | None,
    **options: Any,
) -> None:
    from pippin_benchmark.file_problem import compare_steps

    if steps is not None:
        raise ConfigError("--steps: with --dt, give --duration: a step has no one length")
    try:
        dt = [float(text) for text in ladder.split(",")]
    except ValueError as error:
        raise ConfigError(f"--dt: expected seconds, separated by commas, got {ladder!r}") from error
    with shown_progress(is_stdout_reserved=as_json) as progress:
        found = compare_steps(file, solvers, overrides, dt=dt, **options)
        if not as_json:
            progress.note(f"page: {found.folder / 'benchmark.html'}")
    print_benchmark(found, is_json=as_json)
    if solvers and any(each.outcome == "unable" for name in found.problems for each in found.series(name)):
        sys.exit(UNABLE)


def _values(option: str, texts: Sequence[str]) -> dict[str, float]:
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            values[name] = float(value)
        except ValueError as error:
            raise ConfigError(f"{option}: {name}: expected a number, got {value!r}") from error
    return values


def _print(found: pippin_benchmark.Comparison) -> None:
    from pippin.measuring import COLUMNS, figure_text
    from rich.markup import escape

    from pippin_benchmark.comparison import QUANTITIES, difference_texts

    runs = found.solvers.values()
    is_lossy = any(run.ignored for run in runs)
    titles = (escape(COLUMNS[name]) for name in found.measured)
    table = new_table("solver", "outcome", *titles, *(["ignores"] * is_lossy))
    for run in runs:
        cells = [figure_text(name, getattr(run, name)) for name in found.measured] + [", ".join(run.ignored)] * is_lossy
        table.add_row(run.solver, run.outcome, *cells, style=None if run.outcome == "finished" else "red")
    notes = [f"{run.solver}: {line}" for run in runs for line in (*run.warnings, *(run.reason or "").splitlines())]
    print_table(table, notes)
    named = [name for name in QUANTITIES if any(name in each for each in found.differences.values())]
    differences = new_table("difference", *(escape(QUANTITIES[name]) for name in named))
    for solver, each in found.differences.items():
        differences.add_row(solver, *difference_texts(each, named))
    print_table(differences if named else new_table(), found.exceeded)
