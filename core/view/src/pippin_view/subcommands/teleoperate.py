"""`pippin teleoperate`: record demonstrations of a user on a page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pippin.console import PATH, changes, shown_progress

from .view import on_a_page


@click.command()
@click.argument("file", type=PATH)
@click.option(
    "--record",
    type=PATH,
    required=True,
    metavar="DEMOS",
    help="Folder of the dataset of LeRobot, or file .hdf5 of robomimic; new.",
)
@click.option("--episodes", type=click.IntRange(min=1), metavar="N", help="End when so many are kept.")
@click.option("--instruction", metavar="TEXT", help="What the robot does, in words; by default that of the file.")
@changes(has_worlds=False)
@on_a_page
def teleoperate(
    file: Path, record: Path, episodes: int | None, instruction: str | None, overrides: tuple[str, ...], **options: Any
) -> None:
    """Let a user of a page act in one world of FILE, and record the episodes that the user keeps.

    The page begins with a pause. Start goes back to the start and records; Keep and Discard end the episode. Handles
    move the goals of controllers, switches open grippers, and sliders write position targets. If the task has only the
    actions tool-goals and gripper, the goals follow the handles by these actions, within their bounds, and they are
    recorded; else the position targets of all actuators are. The task ends no episode, and no motion or policy acts.
    """
    with shown_progress() as progress:
        with progress.phase("read"):
            from pippin import Simulation, load

            from ._pages import RECORDER, Running, for_operator

            config = for_operator(load(file, overrides), record, instruction)
        shown = Running(
            config=config, build=lambda plugins: Simulation(config, plugins), demonstrations=(RECORDER, episodes)
        )
        shown.show(progress, worlds=None, **options)
