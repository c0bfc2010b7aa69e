"""Options and arguments that several commands share."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from pippin.catalog.outside import located
from pippin.config.tree import key_text
from pippin.errors import ConfigError
from pippin.runs.decisions import DEFAULT_DURATION

C = TypeVar("C", bound=Callable[..., Any])

HIDES_PROGRESS = "is_progress_hidden"
"""Name, in the metadata of a command's context, of the option `--no-progress`."""

PATH = click.Path(path_type=Path)

_ARGUMENTS = re.compile(
    r"^(checkpoint|draw|duration|limit|out|over|processes|record_worlds|reference|solver|steps|timeout|trace_hooks): "
)
"""Beginning of an error that names an argument of Pippin's functions."""


def is_progress_shown() -> bool:
    """Tell whether the command shows its progress."""
    context = click.get_current_context(silent=True)
    return context is None or not context.meta.get(HIDES_PROGRESS, False)


@contextmanager
def options_named() -> Iterator[None]:
    """Let errors about an argument of Pippin's functions name the option of the command."""

    def renamed(fault: str) -> str:
        return _ARGUMENTS.sub(lambda match: f"--{match[1].replace('_', '-')}: ", fault)

    try:
        yield
    except ConfigError as error:
        error.restate(renamed)
        raise


def overrides(help: str = "Replace a value of the file.") -> Callable[[C], C]:
    """Return the option `--set`."""
    return click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help=help)


def changes(help: str = "Replace a value of the file.") -> Callable[[C], C]:
    """Return the options `--set` and `--plugin`; the command gets both as `overrides`."""

    def decorate(command: C) -> C:
        @functools.wraps(command)
        def changed(*args: Any, overrides: tuple[str, ...], added: tuple[str, ...], **options: Any) -> Any:
            return command(*args, overrides=(*map(_table_of, added), *overrides), **options)

        added: Any = click.option(
            "--plugin",
            "added",
            multiple=True,
            metavar="[LABEL=]PLUGIN",
            help="Add a plugin: file.py:Name, module:Name or an installed one.",
        )
        return overrides(help)(added(changed))

    return decorate


def _table_of(text: str) -> str:
    """Return the override that adds a plugin; by default its label is the name of its class without `Config`."""
    label, _, plugin = text.rpartition("=")
    label = label.strip() or plugin.rpartition(":")[2].removesuffix("Config").lower()
    if not label or not plugin.strip():
        raise ConfigError(f"--plugin: expected file.py:Name, module:Name or an installed plugin, got {text!r}")
    return f"+plugins.{key_text(label)}.type={json.dumps(plugin.strip())}"


def solvers(verb: str) -> Callable[[C], C]:
    """Return the option `--solver`, which may be given several times."""
    return click.option(
        "--solver",
        "solvers",
        multiple=True,
        metavar="NAME",
        callback=lambda context, option, names: tuple(map(located, names)),
        help=f"A solver to {verb}; by default all.",
    )


steps = click.option("--steps", type=click.IntRange(min=1), help="Control steps to simulate.")

duration = click.option(
    "--duration",
    type=float,
    metavar="SECONDS",
    show_default=f"{DEFAULT_DURATION:g}",
    help="Time to simulate [s], in place of --steps.",
)


def out(what: str = "The run folder") -> Callable[[C], C]:
    """Return the option `--out`."""
    return click.option("--out", type=PATH, metavar="DIR", help=f"{what}, new or empty.")


def json_line(verb: str = "End with") -> Callable[[C], C]:
    """Return the option `--json` of a command that prints one line."""
    return click.option(
        "--json", "as_json", is_flag=True, help=f"{verb} one line of JSON; progress goes to standard error."
    )


json_list = click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of a table.")
"""The option `--json` of a command that prints a table."""


def _all(*options: Callable[[C], C]) -> Callable[[C], C]:
    """Return the decorator that adds some options, in the order of the help."""
    return lambda command: functools.reduce(lambda added, option: option(added), reversed(options), command)


viewer_options = _all(
    click.option("--view", "viewers", multiple=True, metavar="NAME", help="Add a viewer of this type, as viser."),
    click.option("--no-viewers", "is_unseen", is_flag=True, help="Leave out the viewers of the file."),
    click.option("--video", type=PATH, metavar="FILE", help="Record a video: .mp4 or .gif, with pippin[video]."),
    click.option("--camera", metavar="BODY", help="Body that the video follows; by default the first robot."),
)
"""Adds the options that choose viewers and a video."""

simulation_options = _all(
    steps,
    duration,
    out(),
    click.option(
        "--record-worlds",
        type=click.IntRange(min=0),
        show_default="1",
        help="Number of worlds to record if the file has no recorders.",
    ),
    click.option(
        "--checkpoint",
        type=PATH,
        metavar="FILE",
        help="Save the simulation for `pippin resume`, at the end or when Ctrl-C stops it.",
    ),
    json_line(),
)
"""Adds the common options of `run` and `resume`: the duration, and the files to write."""
