"""Keys for custom attributes of solvers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from pippin.validators import finite


def _are_named(instance: Any, attribute: Any, value: Mapping[str, Any]) -> None:
    for name, number in value.items():
        if ":" not in name:
            raise ValueError(
                f"'{attribute.name}': must be names such as 'mujoco:condim', with the solver first: {name!r}"
            )
        for each in number.values() if isinstance(number, Mapping) else (number,):
            finite(instance, attribute, each)


def attributes_field() -> Any:
    """Return a field for numbers, or lists of components, or tables of them, by `SOLVER:NAME`; empty by default."""
    return attrs.field(factory=dict, validator=_are_named)
