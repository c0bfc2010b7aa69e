"""The `pippin` command. Each module of this package is one subcommand, imported when it is called."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from typing import Any

import click
from pippin.errors import ConfigError, PippinError, PluginError, SimulationError

__all__ = ["main"]

EXIT_CODES: dict[type[PippinError], int] = {ConfigError: 2, PluginError: 3, SimulationError: 4}
STOPPED = 130


class Commands(click.Group):
    """The commands in this folder: module `some_name` defines the click command `some-name`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, without importing their modules."""
        names = (module.name for module in pkgutil.iter_modules(__path__))
        return sorted(name.replace("_", "-") for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; return None if there is no such module."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = cmd_name.replace("-", "_")
        return getattr(importlib.import_module(f"{__name__}.{module}"), module)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command; report warnings and Pippin's errors, one line each, and exit with their code."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_, **__: click.echo(f"warning: {message}", err=True)
                return super().invoke(ctx)
        except tuple(EXIT_CODES) as error:
            for fault in str(error).splitlines():
                click.echo(f"error: {fault}", err=True)
            ctx.exit(next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind)))
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            ctx.exit(STOPPED)


@click.group("pippin", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pippin", message="%(prog)s %(version)s")
def main() -> None:
    """Simulate robots with Newton: one file names the scene, the solver, the actuators and the sensors.

    Exit codes: 2 the command line or the configuration is wrong, 3 a plugin is broken, 4 the simulation failed, 130 the
    command was stopped.
    """
