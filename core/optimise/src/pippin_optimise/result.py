"""The result of an optimisation: its course, the best values, and the files that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

_SHOWN = 12
"""Most values of a variable that a summary lists one by one."""


@attrs.frozen(kw_only=True)
class GradientCheck:
    """A derivative of the loss in some direction, beside the difference of two rollouts."""

    variable: str
    world: int
    derivative: float
    """Change of the loss per step of the variable's `scale`, by the gradient."""

    difference: float
    """The same by two rollouts."""


@attrs.define(kw_only=True)
class OptimisationResult:
    """The values that an optimisation found, and its course."""

    folder: Path
    """The folder of its files."""

    iterations: int
    """Iterations that were taken."""

    moves: int | None = None
    """Control steps that were taken, each with a plan of its own; None if there was one plan."""

    rollouts: int
    """Rollouts with a gradient; a line search may take several in an iteration."""

    seconds: float
    """Wall time of the iterations [s]."""

    ended: str
    """Why it ended."""

    losses: np.ndarray
    """Loss of each world before each iteration, shape [iterations, worlds]; with moves, of each plan."""

    loss: float
    """The lowest loss; with moves, that of the last plan."""

    world: int
    """The world that has it."""

    values: Mapping[str, np.ndarray]
    """The values of each variable that have it, shape [points, numbers]; with moves, those of each move, [moves,
    numbers]."""

    comparisons: tuple[GradientCheck, ...]
    """For the core: the first gradient beside differences of rollouts; `summary` has them as `check`."""

    kept_bytes: int
    """Memory of the states that were kept for a backward pass [bytes]."""

    @property
    def file(self) -> Path:
        """The file that extends the user's, and has the values."""
        return self.folder / "optimised.toml"

    def summary(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        plain = attrs.asdict(self, filter=lambda field, _: field.name not in ("losses", "values", "comparisons"))
        values = {name: _plain(each) for name, each in self.values.items()}
        return {
            **plain,
            "folder": str(self.folder),
            "file": str(self.file),
            "first_loss": float(self.losses[0].min()) if len(self.losses) else None,
            "values": values,
            "check": [attrs.asdict(each) for each in self.comparisons],
        }


def _plain(values: np.ndarray) -> Any:
    if values.size <= _SHOWN:
        return values.tolist()
    ends = {name: float(getattr(values, name)()) for name in ("min", "mean", "max")}
    return {"shape": list(values.shape), **ends}
