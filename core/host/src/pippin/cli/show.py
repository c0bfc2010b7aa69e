"""`pippin show`: print the whole configuration, and the origin of each value."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

import click
from pippin.catalog.outside import untrusted
from pippin.config.loading import dump_toml, load, origins, unstructure
from pippin.console import PATH, changes
from pippin.console.options import trust


@click.command()
@click.argument("file", type=PATH)
@changes()
@trust
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the configuration, and the origin of each key.")
def show(file: Path, overrides: tuple[str, ...], trust: bool, as_json: bool) -> None:
    """Print the configuration of FILE with every default, and the origin of each value.

    The output is itself a configuration file. The table of a plugin of a file or of a module, `file.py:Name`, is as it
    is written, without defaults: its code runs with --trust only.
    """
    with redirect_stdout(sys.stderr), untrusted(*overrides, is_trusted=trust, is_kept=True):  # plugins may print
        config = load(file, overrides)
    if as_json:
        click.echo(json.dumps({"config": unstructure(config), "origins": origins(config, config.tree)}, indent=2))
    else:
        click.echo(dump_toml(config, with_origins=True), nl=False)
