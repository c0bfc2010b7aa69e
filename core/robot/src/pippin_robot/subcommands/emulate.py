"""`pippin emulate`: be a robot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import click
from pippin.console import PATH, changes, json_line, shown_progress

from .drive import loaded, realtime


@click.command()
@click.argument("file", type=PATH)
@click.option("--duration", type=click.FloatRange(min=0.0, min_open=True), metavar="S", help="End after this time [s].")
@click.option(
    "--hand",
    type=click.Choice(["sweep", "wave", "page"]),
    help="Move joints without torque: as a calibration needs it, to and fro, or by sliders in the browser.",
)
@click.option(
    "--calibrated",
    type=PATH,
    metavar="PATH",
    help="Give the motors a calibration, and write LeRobot's file of it: PATH.json, or into the folder PATH.",
)
@realtime
@click.option("--out", type=PATH, metavar="FOLDER", help="Folder of what the file records.")
@changes(has_worlds=False)
@json_line()
def emulate(file: Path, overrides: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Be the robot of FILE to other programs, in real time.

    The table [robot] names the protocol and the motors. The robot can be reached once its line appears. Motors have no
    torque until a program gives it. Motions, policies, tasks and controllers of FILE do not act.

    Ctrl-C ends it.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        config = loaded(file, overrides, progress)
        from pippin_robot.emulating import emulate as emulate_file

        found = emulate_file(config, ready=lambda address: progress.note(f"the robot is at {address}"), **options)
        late, answer = (
            ", ".join(f"{name} {1e3 * value:.2f}" for name, value in each.items())
            for each in (found.late, found.answer)
        )
        progress.note(f"{found.seconds:.1f} s at {found.rate:.1f} steps per second; {found.dropped} left out")
        progress.note(f"steps late by [ms]: {late}; scheduler: {found.scheduler}")
        progress.note(f"from a command to the state that has it [ms]: {answer}")
        progress.note(", ".join(f"{name} {value}" for name, value in found.counts.items()))
    if as_json:
        click.echo(json.dumps(attrs.asdict(found), ensure_ascii=False))
