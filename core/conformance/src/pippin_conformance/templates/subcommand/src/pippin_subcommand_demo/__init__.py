"""A command of Pippin that adds up the mass of a scene. Imports neither Warp nor Newton."""

import json

import click
import pippin


@click.command()
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def subcommand_demo(file, as_json):
    """Print the mass of one world of FILE."""
    with pippin.Simulation.from_file(file, {"scene.worlds": 1, "simulation.device": "cpu"}) as simulation:
        mass = float(simulation.model.body_mass.numpy().sum())
    click.echo(json.dumps({"mass": mass}) if as_json else f"{mass:.2f} kg")
