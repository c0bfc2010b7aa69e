"""`pippin import-network`: the network of a checkpoint, as a file that the neural actuator runs."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["import_network"]

_PATH = click.Path(path_type=Path)


@click.command("import-network")
@click.argument("checkpoint", type=_PATH)
@click.argument("output", type=_PATH, metavar="OUTPUT.onnx")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Metadata of the file: scales, time step.")
@click.option("--activation", metavar="NAME", help="Activation between linear layers, such as elu, if weights are all.")
def import_network(checkpoint: Path, output: Path, settings: tuple[str, ...], activation: str | None) -> None:
    """Write the network of CHECKPOINT as OUTPUT.onnx for `type = "neural"`.

    CHECKPOINT is a TorchScript module or a dictionary of weights of torch, or an ONNX file; the network is an mlp, or
    an lstm or gru of any number of layers. Its efforts are compared with those of the checkpoint, unless that is a
    dictionary of weights.
    """
    from .convert import convert

    click.echo(convert(checkpoint, output, settings, activation))
