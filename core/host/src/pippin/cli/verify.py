"""`pippin verify`: check that two runs of a file give the same bits."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import click
import pippin
from pippin.console import PATH, changes, json_line, out, shown_progress
from pippin.errors import SimulationError


@click.command()
@click.argument("file", type=PATH)
@click.option("--steps", type=click.IntRange(min=1), default=100, show_default=True, help="Control steps to compare.")
@changes()
@out("A folder for a summary and a page")
@json_line("Print")
def verify(file: Path, steps: int, overrides: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Run FILE twice, in fresh processes, and compare the results of every step bit by bit.

    The command compares the state, the inputs and the data of actuators, sensors and other plugins after every control
    step. The exit code is 4 if the runs differ; the error names the first step, array and world that differ, and the
    size of the difference. Without --out, nothing is written.
    """
    with shown_progress(is_stdout_reserved=as_json):
        found = pippin.verify(file, overrides, steps=steps, out=out)
    if as_json:
        difference = None if found is None else attrs.asdict(found)
        click.echo(json.dumps({"is_same": found is None, "steps": steps, "difference": difference}))
    if found is not None:
        raise SimulationError(str(found))
    if not as_json:
        click.echo(f"two runs of {steps} steps: the same bits")
