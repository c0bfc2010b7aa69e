"""`pippin demo`: a robot that walks, on a page in the browser."""

from __future__ import annotations

from pathlib import Path

import click
from pippin.console import changes
from pippin.extras import import_library

FILE = Path(__file__).parent / "go1" / "go1.toml"
"""The file of the demo, beside its robot and its policy."""


@click.command()
@changes("Replace a value of the demo's file.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port of the page, by default the first free one from 8080."
)
@click.option(
    "--browser/--no-browser",
    default=None,
    help="Whether to open the page; by default if the command has a terminal and the machine a desktop.",
)
@click.pass_context
def demo(context: click.Context, overrides: tuple[str, ...], port: int | None, browser: bool | None) -> None:
    """Show a robot that walks on a page in the browser, until Ctrl-C.

    A Unitree Go1 follows velocities that are drawn anew, by a trained policy. It needs no file of yours: the robot, the
    policy and the file that the first line names come with this package. A copy of its folder is yours to change, and
    `pippin view` shows it.
    """
    for library in ("viser", "onnx", "warp_nn"):
        import_library(library, "demo")
    root = context.find_root().command
    assert isinstance(root, click.Group)
    view = root.get_command(context, "view")
    assert view is not None, "pippin-view is required"
    click.echo(f"file: {FILE}", err=True)
    context.invoke(view, source=FILE, overrides=overrides, port=port, browser=browser)
