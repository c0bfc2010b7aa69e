"""`pippin run`: simulate a configuration file, and write a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pippin.console import PATH, changes, run_file, run_options


@click.command()
@click.argument("file", type=PATH)
@changes()
@click.option(
    "--trace-hooks", "is_traced", is_flag=True, help="List every hook call with its component, start and duration."
)
@click.option(
    "--processes",
    metavar="N",
    default="1",
    show_default=True,
    help="Split the worlds over N processes, or auto: as many as there are cores or GPUs.",
)
@run_options
def run(file: Path, overrides: tuple[str, ...], is_traced: bool, **options: Any) -> None:
    """Simulate the configuration in FILE.

    The run folder, by default runs/NAME-DATE-TIME, contains the resolved configuration (config.toml), a summary
    (summary.json), the time series (series.npz) and a page about all of it, for any browser (report.html).

    World-steps per second are physics steps of all worlds together: worlds × control steps × decimation ÷ wall time,
    from the second control step on. The first step runs eagerly and is then captured; it is not measured.

    --processes gives each process some of the worlds; results and recordings are those of one process. Viewers,
    --checkpoint and --trace-hooks need one process.

    --trace-hooks prints a table at the end, and writes the single calls into the run folder (hooks.csv). Its times are
    those of the host.
    """
    run_file(file, overrides, is_traced=is_traced, **options)
