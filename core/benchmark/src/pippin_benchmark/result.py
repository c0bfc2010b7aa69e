"""Results of a benchmark: rows of solvers, problems and steps, and what follows from them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from .problem import BenchmarkProblem

_FLOOR = 0.3
"""Order below which a smaller step no longer helps."""


@attrs.frozen(kw_only=True)
class BenchmarkRow:
    """Result of a solver in a problem with one step. A figure is None if there was nothing to measure."""

    solver: str

    variant: str = ""
    """Options of the solver that differ from its defaults."""

    problem: str

    dt: float
    """Physics step [s]."""

    outcome: str = "waiting"
    """`finished`, `failed` (during the run), `slow` (ended early) or `unable` (refused before the run)."""

    reason: str | None = None
    """Reason why the run did not finish."""

    ignored: tuple[str, ...] = ()
    """Features of the problem that the solver ignores."""

    error: float | None = None
    """The error, in the unit of the problem."""

    cost: float | None = None
    """Time of one simulated second of one world, on one core or on the GPU [s]."""

    cost_among: Mapping[int, float] = attrs.field(factory=dict)
    """The same for a world among many, by their number [s]."""

    energy_drift: float | None = None
    """Largest change of mechanical energy, in units of the largest kinetic energy."""

    momentum_drift: float | None = None
    """Largest change of angular momentum, in units of that of the start."""

    @property
    def name(self) -> str:
        """The solver, with its options."""
        return f"{self.solver} {self.variant}".strip()


@attrs.frozen(kw_only=True)
class BenchmarkSeries:
    """The rows of a solver in a problem, from the largest step to the smallest one."""

    name: str
    """The solver, with its options."""

    problem: str

    rows: tuple[BenchmarkRow, ...]

    limit: float
    """Error from which the problem is lost."""

    @property
    def finished(self) -> tuple[BenchmarkRow, ...]:
        """The rows with an error."""
        return tuple(row for row in self.rows if row.error is not None)

    @property
    def order(self) -> float | None:
        """Order of convergence: the steepest slope of the error between neighbouring steps that hold the problem."""
        slopes = [slope for error, slope in self._slopes() if error <= self.limit]
        return max(slopes) if slopes else None

    @property
    def floor(self) -> float | None:
        """The smallest error, if smaller steps no longer lessen it: that of single precision, or of the method."""
        slopes = list(self._slopes())
        if not slopes or slopes[-1][1] > _FLOOR:
            return None
        return min(row.error for row in self.finished if row.error is not None)

    @property
    def largest_step(self) -> float | None:
        """The largest step from which all smaller ones hold the problem [s]."""
        held = None
        for row in reversed(self.rows):
            if row.outcome == "slow":
                continue
            if row.error is None or not row.error <= self.limit:
                break
            held = row.dt
        return held

    @property
    def held(self) -> str:
        """The largest step [ms] as text; the outcome if there is none."""
        return self.outcome if self.largest_step is None else f"{1e3 * self.largest_step:g}"

    @property
    def outcome(self) -> str:
        """`held`, `lost`, or why there is no error."""
        if self.finished:
            return "lost" if self.largest_step is None else "held"
        return self.rows[-1].outcome

    def _slopes(self) -> Iterator[tuple[float, float]]:
        """Yield the error of each step but the last, and the slope from there to the next one."""
        for coarse, fine in itertools.pairwise(self.finished):
            if coarse.error and fine.error:
                slope = np.log(coarse.error / fine.error) / np.log(coarse.dt / fine.dt)
                yield coarse.error, float(slope)


@attrs.frozen(kw_only=True)
class FileProblem:
    """The problem of a file, as the rows of a benchmark need it."""

    title: str
    """The file, its reference, and what the error is."""

    limit: float
    """Error from which a step is lost."""

    duration: float
    """Time that is simulated [s]."""

    unit: str = "m"
    """Unit of the error."""


@attrs.frozen(kw_only=True, eq=False)
class Benchmark:
    """Error against cost of solvers in problems."""

    rows: tuple[BenchmarkRow, ...]

    problems: Mapping[str, type[BenchmarkProblem] | FileProblem]
    """The problems by name."""

    machine: str
    """Processor or GPU."""

    seconds: float
    """Time that it took [s]."""

    folder: Path
    """The folder with `benchmark.json`, `benchmark.csv`, tables in `benchmark.md` and the page `benchmark.html`."""

    title: str = "Benchmark of solvers"
    """Title of the page."""

    worlds: int = 1
    """Number of worlds in which `cost` is that of one."""

    reference: Mapping[str, Any] | None = None
    """Solver, step [s] and error [m] of the reference of a file; None for problems with their own."""

    def series(self, problem: str) -> Sequence[BenchmarkSeries]:
        """Return the rows of a problem by solver."""
        own = [row for row in self.rows if row.problem == problem]
        names = dict.fromkeys(row.name for row in own)
        limit = self.problems[problem].limit
        return [
            BenchmarkSeries(name=name, problem=problem, limit=limit, rows=tuple(row for row in own if row.name == name))
            for name in names
        ]

    def summary(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "machine": self.machine,
            "seconds": self.seconds,
            "worlds": self.worlds,
            "reference": self.reference,
            "problems": {
                name: {key: getattr(problem, key) for key in ("title", "unit", "limit", "duration")}
                for name, problem in self.problems.items()
            },
            "rows": [attrs.asdict(row) for row in self.rows],
        }
