"""Contents of an ONNX file: the metadata of its network, and the shapes of its inputs and outputs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

import attrs
import numpy as np
from pippin import ConfigError, did_you_mean

if TYPE_CHECKING:
    import onnx

__all__ = ["NetworkFile", "is_count", "is_finite", "is_names", "is_steps", "is_text", "read_file"]

Shape = tuple[int | None, ...]
"""Extents, None for each extent that the file leaves open."""


@attrs.frozen(kw_only=True)
class NetworkFile:
    """A valid ONNX file, with checks whose errors name the file and the key."""

    file: Path
    metadata: Mapping[str, Any]
    inputs: Mapping[str, Shape]
    outputs: Mapping[str, Shape]

    def refuse(self, key: str, expected: str, value: Any) -> NoReturn:
        """Raise the error of a key whose value is wrong, or missing if `value` is None."""
        found = "it is missing" if value is None else f"got {value!r}"
        raise ConfigError(
            f"model_path: {self.file.name!r}: metadata {key!r}: {expected}, {found}; export the file anew"
        )

    def required(self, key: str, is_valid: Callable[[Any], bool], expected: str) -> Any:
        """Return the value of a required key."""
        value = self.metadata.get(key)
        if not is_valid(value):
            self.refuse(key, f"expected {expected}", value)
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """Return the value of a required key that has only a few choices."""
        return self.required(key, lambda value: value in choices, f"one of {', '.join(choices)}")

    def number(self, table: str, key: str, *, is_positive: bool = False) -> float:
        """Return a finite number of a nested table, such as `normalization.inputs.mean`."""
        found: Any = self.metadata
        for name in table.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping):
            self.refuse(table, "expected an object", found)
        value = found.get(key)
        if not is_finite(value) or (is_positive and value <= 0.0):
            self.refuse(f"{table}.{key}", f"expected a finite number{' > 0' if is_positive else ''}", value)
        return value

    def refuse_misspelt(self, known: Iterable[str]) -> None:
        """Refuse a misspelt key, because the right key's default would act; the keys of other tools are allowed."""
        known = tuple(known)
        for key in self.metadata:
            if key not in known and (hint := did_you_mean(key, known)):
                raise ConfigError(f"model_path: {self.file.name!r}: metadata {key!r}: no such key{hint}")

    def refuse_width(self, name: str, width: int, meaning: str) -> None:
        """Refuse an input or output whose last extent is not `width`, or open."""
        shape = {**self.inputs, **self.outputs}[name]
        if not shape or shape[-1] != width:
            extents = [extent or "?" for extent in shape]
            raise ConfigError(
                f"model_path: {self.file.name!r}: {name!r} has shape {extents}, its last extent must be {width}"
                f" ({meaning}); export the file anew"
            )


def read_file(file: Path) -> NetworkFile:
    """Return the contents of a file.

    Raises:
        ConfigError: The file is not ONNX, its parts do not fit each other, a weight is not finite, or its metadata are
            no JSON object.
    """
    model = _load(file)
    _refuse_infinite_weights(model.graph, file)
    weights = {tensor.name for tensor in model.graph.initializer}  # files of old versions list them as inputs, too
    return NetworkFile(
        file=file,
        metadata=_metadata(model, file),
        inputs={value.name: _shape(value) for value in model.graph.input if value.name not in weights},
        outputs={value.name: _shape(value) for value in model.graph.output},
    )


def _load(file: Path) -> onnx.ModelProto:
    import onnx

    if file.suffix.lower() != ".onnx":
        raise ConfigError(f"model_path: {str(file)!r} is not an '.onnx' file; export the network to ONNX")
    try:
        # The full check infers every shape, and refuses a network whose parts do not fit each other.
        onnx.checker.check_model(str(file), full_check=True)
        return onnx.shape_inference.infer_shapes(onnx.load(str(file)), strict_mode=True)
    except Exception as error:  # the errors of ONNX's C++ side share no class
        reason = " ".join(str(error).split())
        raise ConfigError(
            f"model_path: {str(file)!r} is not a valid ONNX file ({reason}); export the network anew"
        ) from error


def _refuse_infinite_weights(graph: onnx.GraphProto, file: Path) -> None:
    """Refuse weights that are not finite, as diverged training leaves behind: every effort would be NaN."""
    from onnx import numpy_helper

    for tensor in graph.initializer:
        weights = numpy_helper.to_array(tensor)
        wrong = weights[~np.isfinite(weights)]
        if wrong.size:
            raise ConfigError(
                f"model_path: {file.name!r}: weights {tensor.name!r} hold {wrong[0]}; train the network anew"
            )


def _metadata(model: onnx.ModelProto, file: Path) -> dict[str, Any]:
    """Return the JSON object of the property `metadata`, or else all properties, parsed as JSON if possible."""
    properties = {entry.key: entry.value for entry in model.metadata_props}
    if "metadata" not in properties:
        return {key: _json_or_text(text) for key, text in properties.items()}
    values = _json_or_text(properties["metadata"])
    if not isinstance(values, dict):
        raise ConfigError(
            f"model_path: {file.name!r}: metadata are not a JSON object, {values!r}; export the file anew"
        )
    return values


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _shape(value: onnx.ValueInfoProto) -> Shape:
    extents = value.type.tensor_type.shape.dim
    return tuple(extent.dim_value if extent.HasField("dim_value") else None for extent in extents)


def is_finite(value: Any) -> TypeGuard[float]:
    """Tell whether a value is a finite number, and no Boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_count(value: Any) -> bool:
    """Tell whether a value is a whole number of at least one."""
    return type(value) is int and value >= 1


def is_steps(value: Any) -> bool:
    """Tell whether a value is a list of whole numbers of at least zero."""
    return isinstance(value, list) and bool(value) and all(type(step) is int and step >= 0 for step in value)


def is_text(value: Any) -> bool:
    """Tell whether a value is a text."""
    return isinstance(value, str)


def is_names(value: Any) -> bool:
    """Tell whether a value is a list of texts."""
    return isinstance(value, list) and bool(value) and all(map(is_text, value))
