"""Conversion of a checkpoint: read, written, compared, and checked as the actuator will check it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pippin import ConfigError, did_you_mean

from pippin_actuator_neural.network import read_network

from .comparison import largest_difference
from .from_onnx import read_onnx
from .from_torch import Evaluate, read_torch
from .layers import ACTIVATIONS, Layer, Recurrent, kind_of
from .writer import write_onnx

__all__ = ["convert"]


def convert(checkpoint: Path, output: Path, settings: Iterable[str] = (), activation: str | None = None) -> str:
    """Write the network of a checkpoint, and return a line that describes it.

    Args:
        checkpoint: A TorchScript module, a dictionary of weights or an ONNX file.
        output: The file to write, new, with the suffix `.onnx`.
        settings: Metadata, each `key=value` in TOML.
        activation: The activation between linear layers, if the checkpoint does not hold it.

    Raises:
        ConfigError: The checkpoint holds no network that the actuator runs, the metadata lack something, the efforts
            differ, or the output exists.
        PluginError: The checkpoint needs torch, which is not installed.
    """
    if output.suffix != ".onnx" or output.exists():
        why = "it exists" if output.exists() else "its suffix is not .onnx"
        raise ConfigError(f"{output}: {why}; choose another name")
    if not output.absolute().parent.is_dir():
        raise ConfigError(f"{output}: its folder does not exist; make it first")
    layers, evaluate = _read(checkpoint, activation)
    metadata = _metadata(settings)
    with TemporaryDirectory(prefix="pippin-network-", dir=output.absolute().parent) as folder:
        written = Path(folder, output.name)
        write_onnx(written, layers, checkpoint.name, metadata)
        read_network(written, metadata.get("sample_dt_s", 1.0))
        compared = _compare(written, layers, evaluate, checkpoint.name)
        written.replace(output)
    recurrent = [layer for layer in layers if isinstance(layer, Recurrent)]
    size = f" of {len(recurrent)} layers with {recurrent[0].cells} cells" if recurrent else ""
    return f"{output}: {kind_of(layers, checkpoint.name)}{size}; {compared}"


def _read(checkpoint: Path, activation: str | None) -> tuple[list[Layer], Evaluate | None]:
    if not checkpoint.is_file():
        raise ConfigError(f"{checkpoint}: no such file; give the checkpoint of a network")
    names = {name.lower(): name for name in ACTIVATIONS}
    if activation is not None and activation.lower() not in names:
        hint = did_you_mean(activation.lower(), names)
        raise ConfigError(f"--activation: expected one of {', '.join(names)}, got {activation!r}{hint}")
    if checkpoint.suffix.lower() != ".onnx":
        return read_torch(checkpoint, names.get(str(activation).lower()))
    if activation is not None:
        raise ConfigError("--activation: an ONNX file holds its activations; leave the option out")
    return read_onnx(checkpoint)


def _metadata(settings: Iterable[str]) -> dict[str, Any]:
    """Return the values of lines of TOML, by key."""
    text = "\n".join(settings)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"--set: {text!r} is not TOML, {error}; write KEY=VALUE, a text with quotes") from error


def _compare(written: Path, layers: list[Layer], evaluate: Evaluate | None, source: str) -> str:
    if evaluate is None:
        return "not compared: a dictionary of weights computes nothing; compare an effort that you know"
    return f"its efforts differ from the checkpoint's by {largest_difference(written, layers, evaluate, source):.0e}"
