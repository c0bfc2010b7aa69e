"""Fields of a solver's configuration: bounded numbers, what the asset or Newton can give, and determinism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from attrs.validators import optional

if TYPE_CHECKING:
    import warp as wp


def number(default: Any, *validators: Any) -> Any:
    """Return a field with a default and with validators of its value: `number(0.2, non_negative)`."""
    return attrs.field(default=default, validator=list(validators))


def inherited(*validators: Any) -> Any:
    """Return a field that is None if the file does not set it; then the asset gives the value, or else Newton.

    Args:
        *validators: Validators of a value that is given.
    """
    return attrs.field(default=None, validator=[optional(validator) for validator in validators])


def deterministic_mode(deterministic: bool | None) -> wp.DeterministicMode | None:
    """Return the argument of Newton's solvers for the key `deterministic`; None leaves the choice to Newton."""
    import warp as wp

    if deterministic is None:
        return None
    return wp.DeterministicMode.RUN_TO_RUN if deterministic else wp.DeterministicMode.NOT_GUARANTEED
