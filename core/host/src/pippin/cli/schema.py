"""`pippin schema`: print the schema that lets an editor complete and check a configuration file."""

from __future__ import annotations

import json
from pathlib import Path

import click
from pippin.catalog.entries import Catalog
from pippin.config.schema import json_schema


@click.command()
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
def schema(output: Path | None) -> None:
    """Print a JSON Schema that covers every installed plugin.

    Write it beside the configuration, `pippin schema --output pippin.schema.json`, and begin the file with
    `#:schema ./pippin.schema.json`.
    """
    document, problems = json_schema(Catalog.installed())
    for problem in problems:
        for line in problem.splitlines():
            click.echo(f"left out: {line}", err=True)
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if output is None:
        click.echo(text)
    else:
        output.write_text(f"{text}\n", encoding="utf-8")
