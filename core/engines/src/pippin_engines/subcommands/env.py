"""`pippin env`: Python environments of engines, which cannot be in this one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
from pippin import ConfigError, PippinError
from pippin.catalog import Catalog
from pippin.console import new_table, print_table

from pippin_engines.environments import RECORD, EngineEnvironment, EnvironmentPlan

FOLDER = Path("envs")


@click.group()
def env() -> None:
    """Make, list, check and remove Python environments of engines.

    A solver runs its engine in such an environment if its table says so:

    \b
    [solver]
    type = "SOLVER"
    environment = "envs/NAME"
    """  # noqa: D301  (click's own mark for a paragraph that is not wrapped)


@env.command()
@click.argument("solver")
@click.option("--to", "folder", type=click.Path(path_type=Path), help="The folder; by default envs/SOLVER.")
@click.option("--with", "instead", multiple=True, metavar="REQUIREMENT", help="Another version, or one more package.")
@click.option("--python", metavar="VERSION", help="Version or path of its Python; by default the one that runs.")
@click.option("--yes", is_flag=True, help="Agree to the licence without a question.")
def add(solver: str, folder: Path | None, instead: tuple[str, ...], python: str | None, yes: bool) -> None:
    """Make the environment of the engine of SOLVER with uv.

    Its licence and size are shown first. Nothing of this environment changes, and nothing is shared.
    """
    plan = EnvironmentPlan.of(solver, instead, folder or FOLDER / solver)
    click.echo(f"solver    {plan.solver}")
    click.echo(f"packages  {', '.join(plan.requirements)}, numpy, and what they need")
    click.echo(f"licence   {plan.source.licence}")
    click.echo(f"size      about {plan.source.megabytes} MB, in {plan.folder}")
    if plan.source.note:
        click.echo(f"note      {plan.source.note}")
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("nobody can be asked here; read the licence, and add --yes if you agree")
        click.confirm("install it, and agree to this licence?", abort=True)
    made = plan.make(python)
    licences = {name: f"{version}, {licence}" for name, (version, licence) in made.packages.items()}
    click.echo("\n".join(f"  {name} {told}" for name, told in licences.items()))
    click.echo(f"{_hello(made)}; {made.megabytes} MB")
    click.echo(f'[solver]\ntype = "{solver}"\nenvironment = "{plan.folder}"')


@env.command("list")
@click.option("--in", "folder", type=click.Path(path_type=Path), default=FOLDER, show_default=True, help="Where.")
def list_environments(folder: Path) -> None:
    """List the environments of a folder."""
    table = new_table("name", "solver", "requirements", "MB")
    for each in (EngineEnvironment.read(record.parent) for record in sorted(folder.glob(f"*/{RECORD}"))):
        table.add_row(each.folder.name, each.solver, ", ".join(each.requirements), str(each.megabytes))
    print_table(table, () if table.row_count else [f"none in {folder}; `pippin env add SOLVER` makes one"])


@env.command()
@click.argument("name", type=click.Path(path_type=Path))
def check(name: Path) -> None:
    """Start the engine of the environment NAME, a folder or one of envs, and show its versions.

    The exit code is 0 if it answers, and that of its error if not.
    """
    click.echo(_hello(EngineEnvironment.read(_found(name))))


@env.command()
@click.argument("name", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Delete the folder without a question.")
def remove(name: Path, yes: bool) -> None:
    """Delete the environment NAME, a folder or one of envs. A folder that `pippin env add` did not make stays."""
    found = EngineEnvironment.read(_found(name))
    if not yes:
        click.confirm(f"delete {found.folder}, {found.megabytes} MB?", abort=True)
    shutil.rmtree(found.folder)


def _found(name: Path) -> Path:
    return name if name.exists() or len(name.parts) > 1 else FOLDER / name


def _hello(environment: EngineEnvironment) -> str:
    """Return the versions that the engine of an environment tells."""
    from pippin_engines.engines import EngineProcess

    config: Any = Catalog.installed().find("solver", environment.solver).load_config()
    settings = SimpleNamespace(environment=str(environment.folder), timeout=0.0)  # a start has a time of its own
    try:
        with EngineProcess(settings, source=config) as engine:
            told = engine.hello
    except PippinError as error:
        raise ConfigError(f"{environment.folder}: {error}") from error
    recorded, _ = environment.packages.get(told["name"], (told["version"], ""))
    if recorded != told["version"]:
        raise ConfigError(
            f"{environment.folder}: has {told['name']} {told['version']}, and was made with {recorded}; remove it, and"
            " make it anew"
        )
    return (
        f"{told['name']} {told['version']} answers in {environment.folder}: Python {told['python']}, NumPy"
        f" {told['numpy']}, contract {told['contract']}"
    )
