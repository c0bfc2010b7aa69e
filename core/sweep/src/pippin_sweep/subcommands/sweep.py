"""`pippin sweep`: many variants of one file, each with a row in a table."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pippin.console import PATH, changes, duration, json_line, new_table, out, print_table, shown_progress

if TYPE_CHECKING:
    from pippin_sweep.variants import Variant

FAILED = 4


@click.command()
@click.argument("file", type=PATH)
@click.option("--over", multiple=True, metavar="KEY=VALUES", help="Values of a key: 4,8,16 or 0..9 or @FILE.")
@click.option("--variants", "table", type=PATH, metavar="FILE", help="A CSV file with a column for each key.")
@changes()
@click.option("--steps", type=click.IntRange(min=1), help="Control steps to simulate.")
@duration
@click.option("--executor", "name", default="local", metavar="NAME", show_default=True, help="What runs the variants.")
@click.option("--processes", metavar="N", help="Variants at once, or auto: as many as there are cores, the default.")
@click.option("--executor-set", "settings", multiple=True, metavar="KEY=VALUE", help="Set a key of the executor.")
@click.option(
    "--timeout",
    type=float,
    default=3600.0,
    metavar="SECONDS",
    show_default=True,
    help="Longest time for a variant [s].",
)
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=3,
    metavar="N",
    show_default=True,
    help="How often a variant begins again whose node of a cluster was lost.",
)
@out("The folder of the sweep", may_continue=True)
@click.option("--parquet", "is_parquet", is_flag=True, help="Write results.parquet too, with pippin[parquet].")
@click.option("--dry-run", "is_dry", is_flag=True, help="Check and print the variants, and run nothing.")
@json_line()
def sweep(
    file: Path,
    over: tuple[str, ...],
    table: Path | None,
    overrides: tuple[str, ...],
    steps: int | None,
    duration: float | None,
    name: str,
    processes: str | None,
    settings: tuple[str, ...],
    timeout: float,
    retries: int,
    out: Path | None,
    is_parquet: bool,
    is_dry: bool,
    as_json: bool,
) -> None:
    """Simulate variants of FILE: every combination of the values of --over, the last key fastest.

    \b
    --over solver.iterations=4,8,16   values as in TOML, separated by commas
    --over simulation.seed=0..9       whole numbers, both ends included; 0..100..25 has steps
    --over solver.type=@solvers.txt   a text file with a value on each line

    A solver that FILE does not name may ignore features that only change numbers, as in pippin compare; the column
    ignores names them.

    A row of --variants sets all its keys together; rows and the values of --over are combined too. Every variant is
    checked before the first one starts.

    The folder, by default sweeps/NAME-ID, contains results.csv, a page with charts for any browser (results.html) and a
    folder for each finished variant with its configuration (config.toml), its summary (summary.json), what it printed
    (log.txt), the files of its recorders and its videos. Other viewers are not shown. The same command resumes a sweep
    that was stopped, and runs nothing twice.

    \b
    ok         finished
    diverged   the state was not finite, or beyond the bounds
    failed     the simulation failed in another way
    refused    the simulation could not be built
    timed-out  it took longer than --timeout
    crashed    its process died
    incomplete a recording lacks rows, as the disk was full; the same command runs it again
    stopped    it was running when the sweep was stopped, or its node was lost more than --retries times
    waiting    it has not begun

    The exit code is 0 if all variants are ok, and 4 if one of them is not.
    """  # noqa: D301  (click's own mark for a paragraph that is not wrapped)
    command = [click.get_current_context().find_root().info_name or "pippin", *sys.argv[1:]]
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            from pippin_sweep.executor import make_executor
            from pippin_sweep.variants import axis_of, axis_of_file, plan

            axes = [*([] if table is None else [axis_of_file(table)]), *map(axis_of, over)]
            variants = plan(file, axes, overrides, steps, duration, is_local=name == "local" and not is_dry)
            executor = make_executor(name, [*([] if processes is None else [f"processes={processes}"]), *settings])
            from pippin_sweep.driver import run_variants  # while the warm process imports
        if is_dry:
            _print_variants(variants)
            return
        try:
            own: dict[str, Any] = {"timeout": timeout, "retries": retries, "out": out}
            found = run_variants(file, variants, executor, command=command, is_parquet=is_parquet, **own)
        except KeyboardInterrupt:
            progress.note(f"stopped; resume with: {shlex.join(command)}")
            raise
    if as_json:
        click.echo(json.dumps(found.summary()))
    if found.outcomes.keys() != {"ok"}:
        sys.exit(FAILED)


def _print_variants(variants: Sequence[Variant]) -> None:
    keys = list(variants[0].settings)
    table = new_table("id", *keys, "steps")
    for variant in variants:
        table.add_row(variant.id, *(variant.settings[key] for key in keys), str(variant.steps))
    print_table(table)
