"""The three kinds of network, and checks of their metadata before a drive is built."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import attrs
from pippin import ConfigError

from .metadata import NetworkFile, is_count, is_finite, is_names, is_steps, is_text, read_file

__all__ = ["Network", "Stack", "read_network"]

_NAMES = ("input_name", "hidden_in_name", "cell_in_name", "output_name", "hidden_out_name", "cell_out_name")
_STATES = ("hidden_in_name", "cell_in_name", "hidden_out_name", "cell_out_name")
_SCALES = ("pos_scale", "vel_scale", "effort_scale", "torque_scale")
_KEYS = {
    "mlp": ("input_order", "input_idx", *_SCALES),
    "lstm": ("num_layers", "hidden_size", *_NAMES, *_SCALES),
    "gru": ("input_columns", "custom_inputs", "normalization"),
}
_TARGETS_OF_COLUMN = {
    "target_position": "position_targets",
    "position_error": "position_targets",
    "target_velocity": "velocity_targets",
    "velocity_error": "velocity_targets",
}


@attrs.frozen(kw_only=True)
class Stack:
    """Several LSTM layers: sizes, scales, and names of inputs and outputs, of the states one for each layer."""

    hidden_size: int
    input_name: str
    output_name: str
    hidden_in: tuple[str, ...]
    cell_in: tuple[str, ...]
    hidden_out: tuple[str, ...]
    cell_out: tuple[str, ...]
    pos_scale: float
    vel_scale: float
    effort_scale: float


@attrs.frozen(kw_only=True)
class Network:
    """A network that fits its file's metadata."""

    file: Path

    model_type: str
    """mlp, lstm or gru."""

    targets: frozenset[str] = frozenset({"position_targets"})
    """The actuator's arrays that the network reads."""

    not_implicit: str | None = None
    """The reason why the implicit effort mode is impossible; None if it is possible."""

    stack: Stack | None = None
    """The layers of an lstm that has more than one."""


def read_network(file: Path, dt: float) -> Network:
    """Return the network of a file.

    Args:
        file: An ONNX file.
        dt: Length of a physics step [s].

    Raises:
        ConfigError: The file is not valid ONNX, or its metadata are incomplete, wrong or for another network or step.
    """
    found = read_file(file)
    kind = found.choice("model_type", tuple(_KEYS))
    found.refuse_misspelt(("model_type", "sample_dt_s", *_KEYS[kind]))
    _refuse_other_step(found, dt, is_required=kind == "gru")
    return {"mlp": _mlp, "lstm": _lstm, "gru": _gru}[kind](found)


def _mlp(found: NetworkFile) -> Network:
    _refuse_scales(found)
    if "input_order" in found.metadata:
        found.choice("input_order", ("pos_vel", "vel_pos"))
    steps = found.metadata.get("input_idx", [0])
    if not is_steps(steps):
        found.refuse("input_idx", "expected a list of whole numbers >= 0, steps into the past", steps)
    if len(found.inputs) != 1 or len(found.outputs) != 1:
        has = f"{', '.join(found.inputs)} → {', '.join(found.outputs)}"
        raise ConfigError(f"model_path: {found.file.name!r}: an mlp has one input and one output, got {has}")
    found.refuse_width(next(iter(found.inputs)), 2 * len(steps), "2 × the length of input_idx")
    found.refuse_width(next(iter(found.outputs)), 1, "one effort per joint")
    reason = None if steps == [0] else f"which reads past states: input_idx is {steps}, and only [0] has a slope"
    return Network(file=found.file, model_type="mlp", not_implicit=reason)


def _lstm(found: NetworkFile) -> Network:
    _refuse_scales(found)
    layers, size = (found.required(key, is_count, "a whole number >= 1") for key in ("num_layers", "hidden_size"))
    names = {key: tuple(_names(found, key, layers if key in _STATES else 1)) for key in _NAMES}
    found.refuse_width(names["input_name"][0], 2, "position error and velocity")
    for name in (*names["hidden_in_name"], *names["cell_in_name"]):
        found.refuse_width(name, size, "hidden_size")
    if layers == 1:
        return Network(file=found.file, model_type="lstm")
    scale = found.metadata.get("effort_scale", found.metadata.get("torque_scale", 1.0))
    stack = Stack(
        hidden_size=size,
        input_name=names["input_name"][0],
        output_name=names["output_name"][0],
        **{key.removesuffix("_name"): names[key] for key in _STATES},
        pos_scale=found.metadata.get("pos_scale", 1.0),
        vel_scale=found.metadata.get("vel_scale", 1.0),
        effort_scale=scale,
    )
    reason = f"an lstm of {layers} layers: only one of one layer has a slope"
    return Network(file=found.file, model_type="lstm", not_implicit=reason, stack=stack)


def _names(found: NetworkFile, key: str, count: int) -> Iterator[str]:
    """Yield the names of inputs or outputs that a key gives: a text, or a list of one for each of several layers."""
    if count == 1:
        names = [found.required(key, is_text, "the name of an input or output")]
    else:
        names = found.required(key, is_names, f"a list of {count} names, one for each layer")
        if len(set(names)) != count:
            found.refuse(key, f"expected {count} different names, one for each layer", names)
    there = found.inputs if key in _NAMES[:3] else found.outputs
    for name in names:
        if name not in there:
            found.refuse(key, f"the network has {', '.join(there) or 'none'}", name)
        yield name


def _gru(found: NetworkFile) -> Network:
    if found.metadata.get("custom_inputs"):
        found.refuse("custom_inputs", "no actuator has inputs of its own", found.metadata["custom_inputs"])
    columns = found.required("input_columns", is_names, "a list of names")
    for group, names in (("inputs", columns), ("targets", ["torque"])):
        for name in names:
            found.number(f"normalization.{group}.mean", name)
            found.number(f"normalization.{group}.std", name, is_positive=True)
    targets = frozenset(_TARGETS_OF_COLUMN[name] for name in columns if name in _TARGETS_OF_COLUMN)
    reason = "a gru, which Newton does not differentiate"
    return Network(file=found.file, model_type="gru", targets=targets, not_implicit=reason)


def _refuse_scales(found: NetworkFile) -> None:
    """Refuse scales that are not numbers: Newton would convert Booleans, and texts that contain a number."""
    if {"effort_scale", "torque_scale"} <= set(found.metadata):
        both = found.metadata["torque_scale"]
        found.refuse("torque_scale", "another name of 'effort_scale', which is given, too", both)
    for key in _SCALES:
        value = found.metadata.get(key, 1.0)
        if not is_finite(value) or value == 0.0:
            found.refuse(key, "expected a finite number other than 0", value)


def _refuse_other_step(found: NetworkFile, dt: float, *, is_required: bool) -> None:
    """Refuse a network that was trained for another time step: its memory would cover another time span."""
    value = found.metadata.get("sample_dt_s")
    if value is None and not is_required:
        return
    if not is_finite(value) or value <= 0.0:
        found.refuse("sample_dt_s", "expected the time step of training [s]", value)
    if not math.isclose(value, dt, rel_tol=1e-5):
        raise ConfigError(
            f"model_path: {found.file.name!r}: metadata 'sample_dt_s': trained for steps of {value:g} s, and the"
            f" physics step is {dt:g} s; set simulation.dt = {value:g}, or train for the other step"
        )
