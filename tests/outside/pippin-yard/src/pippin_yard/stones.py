"""`pippin stones`: count the stones of a file."""

import click
import pippin


@click.command()
@click.argument("file", type=click.Path())
def stones(file):
    """Count the stones of the plugins of FILE."""
    counts = [choice.config.count for choice in pippin.load(file).plugins.values() if choice.type == "rubble"]
    if not counts:
        raise pippin.ConfigError(f"{file}: has no rubble; add [plugins.rubble]")
    click.echo(f"{sum(counts)} stones")
