"""`pippin new`: write the package of a working plugin, as a start for your own."""

from __future__ import annotations

from pathlib import Path

import click

from pippin_conformance.templates.writing import templates, ways_to_try, write_package


@click.command()
@click.argument("kind", type=click.Choice(list(templates())))
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="Folder for the new package; by default the current one.",
)
def new(kind: str, name: str, into: Path) -> None:
    """Write the package of a new plugin: configuration, class, kernel, tests, a scene, licence and a CI file.

    A term is a quantity and a reward of a task; the other terms are kinds of their own. NAME is the `type` of the
    plugin in configuration files: lower-case words joined by "-".
    """
    folder = write_package(templates()[kind], name, into)
    click.echo(f"{folder}: written; try it:")
    for command in ways_to_try(folder):
        click.echo(f"  {command}")
