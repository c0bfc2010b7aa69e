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
from pippin.files import refuse_taken
from pippin.studies import DEFAULT_DURATION

C = TypeVar("C", bound=Callable[..., Any])

HIDES_PROGRESS = "is_progress_hidden"
"""Name, in the metadata of a command's context, of the option `--no-progress`."""

HIDES_NOTES = "are_notes_hidden"
"""The same of `--quiet`, which hides the progress, too."""

SHOWS_LOG = "is_log_shown"
"""The same of `--verbose`."""

PATH = click.Path(path_type=Path)
"""Type of an option or an argument that is a path: the command gets a `Path`."""

_ARGUMENTS = re.compile(
    r"^(checkpoint|draw|dt|duration|limit|out|over|patience|processes|record_worlds|reference|solver|steps|timeout"
    r"|trace_hooks|variant|worlds): "
)
"""Beginning of an error that names an argument of Pippin's functions."""


def is_given(option: str) -> bool:
    """Tell whether an option was given that every command has, by its name in the metadata."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(option, False)


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
    """Return the option `--set`, which may be given several times; the command gets `overrides`.

    Args:
        help: What it sets, for the help.
    """
    return click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help=help)


def changes(help: str = "Replace a value of the file.", *, has_worlds: bool = True) -> Callable[[C], C]:
    """Return `--set`, `--plugin`, and options for the keys set most; the command gets all of them as `overrides`.

    Args:
        help: The help of `--set`.
        has_worlds: Whether there is the option `--worlds`.

    Raises:
        ConfigError: By the command, if a key is given twice, or a plugin has no label.
    """
    keys = {"world_count": "scene.worlds", "device": "simulation.device", "run_seed": "simulation.seed"}

    def decorate(command: C) -> C:
        @functools.wraps(command)
        def changed(*args: Any, overrides: tuple[str, ...], added: tuple[str, ...], **options: Any) -> Any:
            given = {key: value for name, key in keys.items() if (value := options.pop(name, None)) is not None}
            for key in given:
                if any(text.partition("=")[0].strip() == key for text in overrides):
                    raise ConfigError(f"--set: {key} is also given by --{key.rpartition('.')[2]}; give it once")
            own = (f"{key}={json.dumps(value)}" for key, value in given.items())
            return command(*args, overrides=(*map(_table_of, added), *overrides, *own), **options)

        device = click.option("--device", metavar="NAME", help="Set simulation.device: cpu, cuda:0 or auto.")
        number = click.IntRange(min=1)
        worlds = click.option("--worlds", "world_count", type=number, metavar="N", help="Set scene.worlds.")
        seed = click.option("--seed", "run_seed", type=click.IntRange(min=0), metavar="N", help="Set simulation.seed.")
        changed = worlds(device(seed(changed))) if has_worlds else device(changed)
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
    """Return the option `--solver`, which may be given several times.

    Args:
        verb: What the command does with a solver, for the help.
    """
    return click.option(
        "--solver",
        "solvers",
        multiple=True,
        metavar="NAME",
        callback=lambda context, option, names: tuple(map(located, names)),
        help=f"A solver to {verb}; by default all.",
    )


steps = click.option("--steps", type=click.IntRange(min=1), help="Control steps to simulate.")
"""The option `--steps`."""

duration = click.option(
    "--duration",
    type=float,
    metavar="SECONDS",
    show_default=f"{DEFAULT_DURATION:g}",
    help="Time to simulate [s], in place of --steps.",
)
"""The option `--duration` [s]."""


def out(what: str = "The run folder", *, may_continue: bool = False) -> Callable[[C], C]:
    """Return the option `--out`; a folder that is taken is refused at once.

    Args:
        what: What the folder is, for the help.
        may_continue: Whether the command may continue in a folder that is taken.
    """

    def checked(context: click.Context, option: click.Parameter, folder: Path | None) -> Path | None:
        if folder is not None and not may_continue:
            refuse_taken(folder, "--out")
        return folder

    return click.option("--out", type=PATH, metavar="DIR", callback=checked, help=f"{what}, new or empty.")


def json_line(verb: str = "End with") -> Callable[[C], C]:
    """Return the option `--json` of a command that prints one line; the command gets it as `as_json`.

    Args:
        verb: What the command does with the line, for the help.
    """
    return click.option(
        "--json", "as_json", is_flag=True, help=f"{verb} one line of JSON; progress goes to standard error."
    )


trust = click.option("--trust", is_flag=True, help="Let code run that FILE names: plugins of files and modules.")
"""The option `--trust` of a command that runs no code of a file without it."""

json_list = click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of a table.")
"""The option `--json` of a command that prints a table."""


def _all(*options: Callable[[C], C]) -> Callable[[C], C]:
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

run_options = _all(viewer_options, simulation_options)
"""Adds the options of a command that simulates by `run_file`: viewers and a video, the duration, the files to write."""
