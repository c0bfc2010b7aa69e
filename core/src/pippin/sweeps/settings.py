"""Validators of settings that executors share."""

from __future__ import annotations

from typing import Any

import attrs


def number_or_auto(instance: Any, attribute: attrs.Attribute[Any], value: int | str) -> None:
    """Refuse what is neither "auto" nor a number of at least 1.

    Raises:
        ValueError: Names the setting and the value.
    """
    if value != "auto" and (isinstance(value, str) or value < 1):
        raise ValueError(f"'{attribute.name}' must be 'auto' or at least 1, not {value!r}")
