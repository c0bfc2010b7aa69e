"""`pippin drive`: drive a robot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pippin import SimulationConfig, load
from pippin.console import PATH, changes, json_line, out, shown_progress
from pippin.studies import RunProgress, import_newton

realtime = click.option(
    "--realtime",
    type=click.Choice(["off", "try", "require"]),
    default="try",
    show_default=True,
    help="Ask the system to run this before other programs.",
)


def _ask(what: str) -> None:
    click.confirm(f"{what}. Is it held, and a hand on its switch?", abort=True, err=True)


agreed = click.option(
    "--yes",
    "confirm",
    is_flag=True,
    callback=lambda context, parameter, is_given: None if is_given else _ask,
    help="Do not ask before the robot moves.",
)


@click.command()
@click.argument("file", type=PATH)
@click.option("--policy", type=PATH, metavar="ONNX", help="A policy with a passport, in place of motions.")
@click.option(
    "--command", "commands", multiple=True, metavar="LABEL=X,Y", help="A command of the policy, as velocity=0.5,0,0."
)
@click.option("--replay", type=PATH, metavar="RECORDING", help="Send the targets of a recording again.")
@click.option("--leader", type=PATH, metavar="FILE", help="Follow the robot of another file, moved by hand.")
@click.option("--teleoperate", is_flag=True, help="Follow the sliders of the page.")
@click.option("--duration", type=click.FloatRange(min=0.0, min_open=True), metavar="S", help="Time [s].")
@click.option("--dry-run", is_flag=True, help="Compute everything, and write nothing to the robot.")
@click.option("--page", is_flag=True, help="Show the robot on a page in the browser, with a button that stops it.")
@click.option("--shadow", is_flag=True, help="Run the simulation beside the robot, and compare.")
@click.option(
    "--resync",
    type=click.FloatRange(min=0.0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="S",
    help="Time after which the shadow is set to what the robot measures.",
)
@realtime
@agreed
@changes(has_worlds=False)
@out()
@json_line()
def drive(file: Path, overrides: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Drive the robot of FILE: a real one, or one of `pippin emulate`.

    Hold or hang up the robot, keep a hand on its switch, and begin with --dry-run. The space bar and the button of the
    page stop it; Ctrl-C stops it, and a second one takes the torque.

    It measures, goes to the first targets within robot.safety.soft_start, and then follows the motions of FILE, or what
    --policy, --replay, --leader or --teleoperate say. Each target is kept within [robot.limits]. A fault of
    [robot.safety] leaves the robot as its on_fault says.

    The folder, by default runs/NAME-DATE-TIME, has what was measured (series.npz), a summary (summary.json) and a page
    (report.html). `pippin fit` reads it.

    The exit code is 5 if a fault ended it.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        from pippin_robot import RobotFault
        from pippin_robot.sources import DriveSource

        given = {name: options.pop(name) for name in ("policy", "replay", "leader", "teleoperate")}
        source = DriveSource(**given, commands=dict(map(_command, options.pop("commands"))))
        config = loaded(file, overrides, progress)
        from pippin_robot.drive_result import shown
        from pippin_robot.driving import drive as drive_robot

        found = drive_robot(config, source, name=str(file), **options)
        for line in shown(found):
            progress.note(line)
        if found.fault is not None:
            progress.note(f"stopped: {found.fault}; the robot is left: {found.left}")
        if found.folder is not None:
            progress.note(f"folder: {found.folder}")
    if as_json:
        click.echo(json.dumps(found.summary(), ensure_ascii=False))
    if found.is_stopped_by_safety:
        raise click.exceptions.Exit(RobotFault.exit_code)
    if found.kind == "interrupt":
        raise KeyboardInterrupt


def loaded(file: Path, overrides: tuple[str, ...], progress: RunProgress) -> SimulationConfig:
    """Return the configuration of a file, with Newton imported."""
    with progress.phase("read"):
        config = load(file, overrides)
    import_newton(config, progress)
    return config


def _command(text: str) -> tuple[str, list[float]]:
    label, _, numbers = text.partition("=")
    try:
        return label, [float(each) for each in numbers.split(",")]
    except ValueError:
        raise click.BadParameter(f"expected LABEL=NUMBER,NUMBER, got {text!r}") from None
