"""`pippin view`: watch a simulation, or the recording of a run, on a page in the browser."""

from __future__ import annotations

import functools
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from pippin.catalog import untrusted
from pippin.console import PATH, changes, shown_progress, trust

C = TypeVar("C", bound=Callable[..., Any])

_PAGE = (
    click.option(
        "--speed",
        type=click.FloatRange(min=0.0, min_open=True),
        help="Simulated time per real time, by default that of the file or 1; the page can change it.",
    ),
    click.option(
        "--port", type=click.IntRange(1, 65535), help="Port of the page, by default the first free one from 8080."
    ),
    click.option("--until-closed", is_flag=True, help="End when the last tab with the page is closed, too."),
    click.option(
        "--browser/--no-browser",
        default=None,
        help="Whether to open the page; by default if the command has a terminal and the machine a desktop.",
    ),
)


def on_a_page(command: C) -> C:
    """Add the options of a command that shows a page in the browser."""
    return functools.reduce(lambda decorated, option: option(decorated), reversed(_PAGE), command)


@click.command()
@click.argument("source", type=PATH, metavar="FILE")
@changes("Replace a value of a configuration file.", has_worlds=False)
@click.option("--worlds", metavar="WORLDS", help="Worlds to show, a slice such as 0:4; by default the first 16.")
@trust
@on_a_page
def view(source: Path, overrides: tuple[str, ...], trust: bool, **options: Any) -> None:
    """Show FILE on a page in the browser, until Ctrl-C.

    FILE is a configuration, which runs in real time without an end; a checkpoint, from which it continues; or a run
    folder, which is replayed. Nothing is recorded, and other viewers of the file do not open. The page has pause, one
    step, reset, speed, choice of world, and sliders for the targets of actuators. Only this machine can open it.

    A run folder and a checkpoint run no code that they name, such as plugins of files, without --trust.

    If the simulation fails, the page says why and pauses: Reset starts again.
    """
    is_own = trust or not (source.is_dir() or zipfile.is_zipfile(source))  # a file to run is the user's choice
    with shown_progress() as progress, untrusted(is_trusted=is_own, is_kept=True):
        with progress.phase("read"):
            from ._pages import source_of

            shown = source_of(source, overrides)
        shown.show(progress, **options)
