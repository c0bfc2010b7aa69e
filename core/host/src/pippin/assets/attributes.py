"""Attributes of a solver's own, set by their names on parts of an asset."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import newton
from pippin.attribute_rows import typed
from pippin.errors import ConfigError
from pippin.labels import match
from pippin.spelling import did_you_mean

_PARTS = {
    newton.Model.AttributeFrequency.BODY: ("body", "body_label"),
    newton.Model.AttributeFrequency.SHAPE: ("shape", "shape_label"),
    newton.Model.AttributeFrequency.JOINT: ("joint", "joint_label"),
}
"""The frequencies of attributes whose parts have labels."""


def set_attributes(
    builder: newton.ModelBuilder,
    stated: Mapping[str, Mapping[str, float | tuple[float, ...]]],
    registered: Collection[str],
    where: str,
) -> None:
    """Set attributes that the solver has registered.

    Args:
        builder: The asset alone.
        stated: A number, or a number for each component, by pattern of the labels of parts, by `SOLVER:NAME`.
        registered: The names of the attributes that the solver has.
        where: Key path of the table.

    Raises:
        ConfigError: The solver has no such attribute, its parts have no labels, or a pattern matches none.
    """
    known = [key for key, each in builder.custom_attributes.items() if each.frequency in _PARTS and key in registered]
    for key, values in stated.items():
        if key not in known:
            cure = did_you_mean(key, known) or f"; it has {', '.join(known) or 'none'}"
            raise ConfigError(f"{where}: the solver has no attribute {key!r} of bodies, shapes or joints{cure}")
        attribute = builder.custom_attributes[key]
        kind, labels = _PARTS[attribute.frequency]  # pyrefly: ignore[bad-index]
        rows: dict[int, Any] = {**(attribute.values or {})}  # pyrefly: ignore[invalid-argument]
        for pattern, value in values.items():
            place = f"{where}.{key}.{pattern}"
            number = typed(attribute.dtype, value, place)
            rows |= dict.fromkeys(match(pattern, getattr(builder, labels), kind, place), number)
        attribute.values = rows
