"""Fields of a solver's configuration: bounded numbers, and settings that the asset or Newton can give."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import optional


def number(default: Any, *validators: Any) -> Any:
    """Return a field with a default and with validators of its value: `number(0.2, non_negative)`."""
    return attrs.field(default=default, validator=list(validators))


def inherited(*validators: Any) -> Any:
    """Return a field that is None if the file does not set it; then the asset gives the value, or else Newton.

    Args:
        *validators: Validators of a value that is given.
    """
    return attrs.field(default=None, validator=[optional(validator) for validator in validators])
