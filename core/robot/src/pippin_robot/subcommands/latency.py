"""`pippin latency`: measure the time from a target to its effect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pippin.console import PATH, changes, json_line, new_table, out, print_table, shown_progress

from .drive import agreed, loaded, realtime


@click.command()
@click.argument("file", type=PATH)
@click.option(
    "--amplitude",
    type=click.FloatRange(min=0.0, min_open=True),
    default=0.1,
    show_default=True,
    metavar="A",
    help="Way of each move from the start of FILE [rad or m].",
)
@click.option("--joints", multiple=True, default=(".*",), metavar="PATTERN", help="Joints that move; by default all.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the noise.")
@realtime
@agreed
@changes(has_worlds=False)
@out()
@json_line()
def latency(file: Path, overrides: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Measure the time from a target to its effect on the robot of FILE.

    Hold or hang up the robot, and keep a hand on its switch. Each joint makes a step, then all make noise. The delay
    that the model of FILE needs to move alike is fitted to both. A wrong model has a wrong delay: what it leaves
    unexplained is told, and the numbers of [fit.parameters] vary too.

    The folder, by default runs/NAME-DATE-TIME, has a file that extends FILE with the delay of its actuators
    (latency.toml), the drive (drive) and both fits (steps, noise).
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        loaded(file, overrides, progress)
        from pippin_robot.latency_measurement import latency as measure

        found = measure(file, overrides, **options)
        progress.note(f"folder: {found.folder}")
    if as_json:
        click.echo(json.dumps(found.summary(), ensure_ascii=False))
        return
    table = new_table("from", "to its effect [ms]", "± 95 % [ms]", "unexplained [σ]")
    for name, (value, width, cost) in found.found.items():
        table.add_row(name, f"{1e3 * value:.2f}", f"{1e3 * width:.2f}", f"{cost:.2f}")
    answer = f"from a state to the target that answers it: {1e3 * found.turnaround:.2f} ms more"
    print_table(table, [answer, f"latency.toml: a delay of {found.delay_steps} physics steps"])
