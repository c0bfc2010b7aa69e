"""Note on the limits of iterations that a solver reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["with_limits"]


def with_limits(notes: Mapping[str, Sequence[str]], count: int) -> dict[str, Sequence[str]]:
    """Return notes by component, with one on the solver if it reached a limit of iterations.

    Args:
        notes: The other notes.
        count: How often it reached one, over the substeps of all worlds.
    """
    if not count:
        return dict(notes)
    limit = "reached its limit of iterations, and went on with what it had"
    times = "once" if count == 1 else f"{count:,} times"
    return {**notes, "solver": [*notes.get("solver", ()), f"{limit}, {times} (substeps of all worlds)"]}
