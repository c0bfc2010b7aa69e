"""`pippin benchmark`: error against cost of solvers, in problems with a reference."""

from __future__ import annotations

import json
from typing import Any

import click
from pippin.console import json_line, new_table, out, print_table, shown_progress


@click.command()
@click.argument("solvers", nargs=-1, metavar="[SOLVER]...")
@click.option("--problem", "problems", multiple=True, metavar="NAME", help="A problem; all by default.")
@click.option("--quick", "is_quick", is_flag=True, help="Few problems and steps, in a few minutes.")
@click.option("--dt", multiple=True, type=float, metavar="SECONDS", help="A physics step; a ladder by default.")
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="SOLVER.KEY=VALUE",
    help="Run a solver with an option, too; by default with those that it declares, without --quick.",
)
@click.option(
    "--worlds", multiple=True, type=click.IntRange(min=1), default=(64,), metavar="N", help="Cost among N worlds."
)
@click.option("--device", metavar="NAME", help="The device: cpu by default, or cuda:0.")
@click.option("--patience", type=float, metavar="SECONDS", help="Largest cost of a run; a longer one ends early.")
@out("The folder of results")
@json_line("Print")
def benchmark(solvers: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Run each SOLVER in problems with a reference, over a ladder of steps, and show its error against its cost.

    Without a name, all installed solvers run. NAME@FOLDER is a solver with its engine in an environment that `pippin
    env` has made. A problem is a plugin of the group pippin.problems. A solver that lacks
    what a problem needs does not take part, and the page says why.

    \b
    held     largest step from which all smaller ones keep the error below the limit of the problem
    order    order of convergence: the steepest slope of the error between neighbouring steps that hold
    cost     time of a simulated second; on a CPU that of all threads of the process, and on Linux of
             those that it has started, so that other programs of the machine do not count

    The folder, by default runs/benchmark-DATE-TIME, has all figures (benchmark.json, benchmark.csv), tables for a
    README (benchmark.md) and a page with the diagrams, for any browser (benchmark.html).
    """  # noqa: D301  (click's own mark for a paragraph that is not wrapped)
    from pippin_benchmark.benchmark import benchmark

    with shown_progress(is_stdout_reserved=as_json) as progress:
        found = benchmark(solvers, **options)
        if not as_json:
            progress.note(f"page: {found.folder / 'benchmark.html'}")
    print_benchmark(found, is_json=as_json)


def print_benchmark(found: Any, *, is_json: bool) -> None:
    """Print a `Benchmark`, as a table or as one line of JSON."""
    if is_json:
        click.echo(json.dumps({**found.summary(), "folder": str(found.folder)}, ensure_ascii=False))
        return
    table = new_table("problem", "solver", r"held \[ms]", "order", "least error", "unit", r"cost \[s]")
    for problem, kind in found.problems.items():
        for each in found.series(problem):
            best = min(each.finished, key=lambda row: row.error or 0.0, default=None)
            figures = (
                ("", "", "", "")
                if best is None
                else (_text(each.order), _text(best.error), kind.unit, _text(best.cost))
            )
            table.add_row(problem, each.name, each.held, *figures)
    print_table(table, [])


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"
