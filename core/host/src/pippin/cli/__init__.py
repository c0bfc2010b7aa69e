"""The `pippin` command. Each module of this package is one subcommand, imported when it is called."""

from __future__ import annotations

import importlib
import pkgutil
import traceback
import warnings
from contextlib import nullcontext
from typing import Any

import click
from pippin.catalog import Catalog, Entry
from pippin.catalog.source import docstring_of, first_party_distribution
from pippin.console.options import HIDES_NOTES, HIDES_PROGRESS, SHOWS_LOG
from pippin.errors import PippinError, PluginError
from pippin.spelling import did_you_mean, printable

from ._machine import machine_fault

__all__ = ["main", "own_commands"]

STOPPED = 130

_TRACEBACK = "is_traceback_shown"

_ELSEWHERE = {
    "--num-envs": "write --worlds",
    "--n-envs": "write --worlds",
    "--headless": "leave it out, as windows open with --view alone",
    "--max-iterations": "write --iterations",
    "--total-timesteps": "write --iterations; one has trainer.steps × scene.worlds steps",
    "--task": "write the file, or the name of a task, without an option",
    "--env": "write the file, or the name of a task, without an option",
    "--env-id": "write the file, or the name of a task, without an option",
    "--load-run": "write --resume DIR to train, or --policy DIR to play",
    "--checkpoint-file": "write --resume DIR to train, or --policy DIR to play",
    "--experiment-name": "write --out DIR",
    "--run-name": "write --out DIR",
    "--distributed": "write --processes N",
    "--enable-cameras": "leave it out, as cameras are sensors of the file",
}
"""Options of mjlab, Isaac Lab and others, and what to write in their place."""


class Commands(click.Group):
    """The commands in this folder: module `some_name` defines the click command `some-name`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, those of plugins included, without importing their modules."""
        return sorted({*own_commands(), *_installed_commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; return None if there is no such module. A plugin replaces no command of Pippin."""
        if cmd_name in own_commands():
            module = cmd_name.replace("-", "_")
            command: click.Command = getattr(importlib.import_module(f"{__name__}.{module}"), module)
        elif cmd_name.rpartition(":")[2] in _installed_commands():
            command = Catalog.installed().find("subcommand", cmd_name).load_command()
        else:
            return None
        names = {option.name for option in command.params}
        command.params += [option for option in _shared_options(hidden=True) if option.name not in names]
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; `pippin help NAME` is `pippin NAME --help`."""
        return super().parse_args(ctx, [*args[1:2], "--help"] if args[:1] == ["help"] else args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; the error for an unknown one says what to install, or suggests the nearest."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise click.UsageError(f"no command {args[0]!r}{_cure(args[0], self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their summaries. Those of plugins come after, by distribution: none is imported."""
        width = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        own = {name: command for name in own_commands() if (command := self.get_command(ctx, name))}
        rows = {name: command.get_short_help_str(width) for name, command in own.items()}
        others = dict[str, str]()
        for name, entries in _installed_commands().items():
            known = first_party_distribution("subcommands", name)
            is_ours = [entry.distribution for entry in entries] == [known]
            (rows if is_ours else others)[name] = _short_help(entries, width, is_ours=is_ours)
        with formatter.section("Commands"):
            formatter.write_dl(sorted(rows.items()))
        if others:
            with formatter.section("Commands of plugins"):
                formatter.write_dl(list(others.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command; report warnings and Pippin's errors, one line each, and exit with their code."""
        interruptible, ctx.obj = ctx.obj or nullcontext(), None
        try:
            with interruptible, warnings.catch_warnings():
                warnings.showwarning = lambda text, *_, **__: click.echo(f"warning: {printable(str(text))}", err=True)
                return self._invoke(ctx)
        except PippinError as error:
            is_shown = ctx.meta.get(_TRACEBACK, False)
            if is_shown:
                click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
            for fault in str(error).splitlines():
                click.echo(f"error: {printable(fault)}", err=True)
            if isinstance(error, PluginError) and error.__cause__ is not None and not is_shown:
                click.echo("note: add --traceback to see where", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            ctx.exit(STOPPED)

    def _invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command; if a plugin's raises anything, the error names the plugin."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            if (cure := _ELSEWHERE.get(error.option_name.replace("_", "-"))) is not None:
                raise click.UsageError(f"No such option {error.option_name!r}; {cure}.", error.ctx) from error
            raise
        except (PippinError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if (fault := machine_fault(error)) is not None:
                raise fault from error
            name = ctx.invoked_subcommand or ""
            if name.rpartition(":")[2] not in _installed_commands():
                from pippin.extras import version_faults

                for fault in version_faults():  # it may be why
                    error.add_note(fault)
                raise
            raise PluginError(
                f"{Catalog.installed().find('subcommand', name)}: raised {type(error).__name__}: {error}; correct the"
                " plugin"
            ) from error


def _cure(name: str, known: list[str]) -> str:
    """Return what to do about a command that is not there: unblock or install it, or write another name."""
    for entry in Catalog.installed().of_kind("subcommand"):
        if entry.name == name:
            return f": {entry.distribution} has it, but it is {entry.problem}"
    if own := first_party_distribution("subcommands", name):
        return f" without {own}; install it by `uv pip install {own}`"
    return did_you_mean(name, known) or "; `pippin --help` lists them"


def own_commands() -> list[str]:
    """Return the names of Pippin's own commands, sorted."""
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name.replace("_", "-") for name in names if not name.startswith("_"))


def _installed_commands() -> dict[str, list[Entry]]:
    own = own_commands()
    found: dict[str, list[Entry]] = {}
    for entry in Catalog.installed().of_kind("subcommand"):
        if entry.state != "blocked" and entry.name not in own:
            found.setdefault(entry.name, []).append(entry)
    return found


def _short_help(entries: list[Entry], width: int, *, is_ours: bool) -> str:
    """Return the first sentence of a command's docstring, from its source; and the distributions of other packages."""
    of = "" if is_ours else f"(of {', '.join(entry.distribution for entry in entries)})"
    text = docstring_of(entries[0]) if len(entries) == 1 else None
    short = click.Command(None, help=text).get_short_help_str(max(width - len(of) - 1, 20)) if text else ""
    return " ".join(filter(None, (short, of)))


def _shared_options(*, hidden: bool) -> list[click.Option]:

    def note(ctx: click.Context, option: click.Parameter, value: bool) -> None:
        name = option.name or ""
        ctx.meta[name] = value or ctx.meta.get(name, False)  # shared by the contexts of all commands

    texts = {
        ("--traceback", _TRACEBACK): "Show the traceback of an error, too; also after the name of a command.",
        ("--no-progress", HIDES_PROGRESS): "Show results and notes alone; also after the name of a command.",
        ("-q", "--quiet", HIDES_NOTES): "Show results and warnings alone; also after the name of a command.",
        ("-v", "--verbose", SHOWS_LOG): "Keep each line of progress on the screen; also after the name of a command.",
    }
    return [
        click.Option(names, is_flag=True, hidden=hidden, expose_value=False, callback=note, help=text)
        for names, text in texts.items()
    ]


@click.group("pippin", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="pippin", message="%(prog)s %(version)s")
def main() -> None:
    """Simulate robots with Newton: one file names the scene, the solver, the actuators and the sensors.

    Exit codes: 2 the command line or the configuration is wrong, 3 a plugin is broken, 4 the simulation failed, 130 the
    command was stopped.

    Completion of names and options by the Tab key, for Bash: eval "$(_PIPPIN_COMPLETE=bash_source pippin)", in
    ~/.bashrc; zsh_source and fish_source are those of Zsh and Fish.
    """


main.params += _shared_options(hidden=False)
