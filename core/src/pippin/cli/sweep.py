"""`pippin sweep`: many variants of one file, each with a row in a table."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pippin.errors import ConfigError
from pippin.runs.progress import RunProgress

from ._options import PATH, changes, json_line, out
from ._progress import shown_progress
from ._table import new_table, print_table

if TYPE_CHECKING:
    from pippin.sweeps.executor import Executor
    from pippin.sweeps.sweep import Sweep
    from pippin.sweeps.variants import Variant

FAILED = 4


@click.command()
@click.argument("file", type=PATH)
@click.option("--over", multiple=True, metavar="KEY=VALUES", help="Values of a key: 4,8,16 or 0..9 or @FILE.")
@click.option("--variants", "table", type=PATH, metavar="FILE", help="A CSV file with a column for each key.")
@changes()
@click.option("--steps", type=click.IntRange(min=1), help="Control steps to simulate.")
@click.option("--duration", type=float, metavar="SECONDS", help="Time to simulate, by default 5 s.")
@click.option("--executor", "name", default="local", metavar="NAME", help="What runs the variants, by default local.")
@click.option("--processes", metavar="N", help="Variants at once, or auto: as many as there are cores, the default.")
@click.option("--executor-set", "settings", multiple=True, metavar="KEY=VALUE", help="Set a key of the executor.")
@click.option(
    "--timeout", type=float, default=3600.0, metavar="SECONDS", help="Longest time for a variant, by default 3600 s."
)
@out("The folder of the sweep")
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

    A row of --variants sets all its keys together; rows and the values of --over are combined too. Every variant is
    checked before the first one starts.

    The folder, by default sweeps/NAME-ID, contains results.csv and a folder for each finished variant with its
    configuration (config.toml), its summary (summary.json), what it printed (log.txt) and the files of its recorders.
    Viewers are left out. The same command resumes a sweep that was stopped, and runs nothing twice.

    \b
    ok         finished
    diverged   the state was not finite, or beyond the bounds
    failed     the simulation failed in another way
    refused    the simulation could not be built
    timed-out  it took longer than --timeout
    crashed    its process died
    stopped    it was running when the sweep was stopped
    waiting    it has not begun

    The exit code is 0 if all variants are ok, and 4 if one of them is not.
    """  # noqa: D301  (click's own mark for a paragraph that is not wrapped)
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            variants = _variants(file, over, table, overrides, steps, duration)
            if not timeout > 0.0:
                raise ConfigError(f"--timeout: expected a positive time in seconds, got {timeout!r}")
            executor = _executor(name, processes, settings)
        if is_dry:
            _print_variants(variants)
            return
        _note_viewers(variants, progress)
        from pippin.sweeps.sweep import Sweep
        from pippin.sweeps.sweep_folder import SweepFolder

        command = [click.get_current_context().find_root().info_name or "pippin", *sys.argv[1:]]
        path = Path("sweeps") / f"{file.stem}-{_id(variants)}" if out is None else out
        with closing(SweepFolder(path, variants, command)) as folder:
            driver = Sweep(variants, folder, executor, timeout)
            progress.note(f"{len(variants)} variants, {executor.slots} at a time, in {path}")
            try:
                _run(driver, progress)
            except KeyboardInterrupt:
                progress.note(f"stopped; resume with: {shlex.join(command)}")
                raise
            finally:
                if is_parquet:
                    from pippin.sweeps.table import write_parquet

                    write_parquet(path / "results.parquet", driver.rows)
        counts = driver.counts
        progress.note(f"{_counted(counts)}; table: {path / 'results.csv'}")
    if as_json:
        click.echo(json.dumps({"folder": str(path), "variants": len(variants), "outcomes": counts}))
    if counts.keys() != {"ok"}:
        sys.exit(FAILED)


def _variants(
    file: Path,
    over: Sequence[str],
    table: Path | None,
    overrides: Sequence[str],
    steps: int | None,
    duration: float | None,
) -> list[Variant]:
    from pippin.runs.decisions import step_count
    from pippin.sweeps.values import axis_of, axis_of_file
    from pippin.sweeps.variants import variants_of

    axes = [*([] if table is None else [axis_of_file(table)]), *map(axis_of, over)]
    if not axes:
        raise ConfigError("--over: nothing to sweep; give a key and values, such as --over simulation.seed=0..9")
    return variants_of(file, overrides, axes, lambda config: step_count(config, steps, duration))


def _executor(name: str, processes: str | None, settings: Sequence[str]) -> Executor:
    from pippin.sweeps.executors import make_executor

    chosen = [] if processes is None else [f"processes={processes}"]
    return make_executor(name, [*chosen, *settings])


def _id(variants: Sequence[Variant]) -> str:
    return hashlib.blake2b("".join(variant.id for variant in variants).encode(), digest_size=3).hexdigest()


def _print_variants(variants: Sequence[Variant]) -> None:
    keys = list(variants[0].settings)
    table = new_table("id", *keys, "steps")
    for variant in variants:
        table.add_row(variant.id, *(variant.settings[key] for key in keys), str(variant.steps))
    print_table(table)


def _note_viewers(variants: Sequence[Variant], progress: RunProgress) -> None:
    labels = dict.fromkeys(label for variant in variants for label in variant.config.viewers)
    if labels:
        progress.note(f"viewers are left out: {', '.join(labels)}; show a variant by pippin run on its config.toml")


def _run(driver: Sweep, progress: RunProgress) -> None:
    """Run the sweep with a live line."""
    before = sum(count for name, count in driver.counts.items() if name not in ("waiting", "running"))
    if before:
        progress.note(f"{before} variants are finished already")
    start = time.monotonic()
    with progress.phase("run"), closing(driver.run()) as moments:
        for _ in moments:
            progress.update(_line(driver.counts, before, time.monotonic() - start))


def _line(counts: Mapping[str, int], before: int, elapsed: float) -> str:
    left = counts.get("waiting", 0) + counts.get("running", 0)
    done = sum(counts.values()) - left
    line = f"{done} of {sum(counts.values())} done: {_counted(counts)}"
    if done == before:
        return line
    return f"{line}, {timedelta(seconds=round(elapsed * left / (done - before)))} to go"


def _counted(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
