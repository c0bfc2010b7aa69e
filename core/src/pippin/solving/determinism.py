"""The argument of Newton's solvers for deterministic steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import warp as wp


def deterministic_mode(deterministic: bool | None) -> wp.DeterministicMode | None:
    """Return the argument of Newton's solvers for the key `deterministic`; None leaves the choice to Newton."""
    import warp as wp

    if deterministic is None:
        return None
    return wp.DeterministicMode.RUN_TO_RUN if deterministic else wp.DeterministicMode.NOT_GUARANTEED
