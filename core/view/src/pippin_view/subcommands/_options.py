"""Options of the commands that show a page."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

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
