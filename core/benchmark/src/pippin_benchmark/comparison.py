"""Results of a comparison: what each solver did on one file, in the same figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from pippin.measuring import COLUMNS, UNITS, SolverRun


@attrs.frozen(kw_only=True, eq=False)
class Comparison:
    """Results of several solvers on one file."""

    file: Path
    """The configuration file."""

    steps: int
    """Control steps of each run."""

    reference: str
    """The solver that the distances refer to."""

    solvers: Mapping[str, SolverRun]
    """The result of each solver, by name, in the order of the comparison."""

    exceeded: tuple[str, ...] = ()
    """A line for each figure that exceeds its limit."""

    folder: Path
    """The folder with all figures, the measurements over time and a page with charts."""

    def summary(self) -> dict[str, Any]:
        """Return everything but the series, as plain data."""
        return {
            "file": str(self.file),
            "steps": self.steps,
            "reference": self.reference,
            "units": UNITS,
            "exceeded": list(self.exceeded),
            "solvers": [result.figures() for result in self.solvers.values()],
        }

    @property
    def measured(self) -> list[str]:
        """The figures of a table that some solver has."""
        return [name for name in COLUMNS if any(getattr(run, name) is not None for run in self.solvers.values())]
