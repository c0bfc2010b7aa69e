"""Fields of a solver's configuration: numbers with bounds, and settings that the asset or Newton decides."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import optional

__all__ = ["inherited", "number"]


def number(default: Any, *validators: Any) -> Any:
    """Return a field with a default and what its value must satisfy: `number(0.2, non_negative)`."""
    return attrs.field(default=default, validator=list(validators))


def inherited(*validators: Any) -> Any:
    """Return a field that is None if the file does not give it: then the asset says what holds, else Newton."""
    return attrs.field(default=None, validator=[optional(validator) for validator in validators])
