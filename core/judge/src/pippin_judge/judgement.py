"""The result of a judgement: each candidate with what it leaves of unseen logs, the best ones, and the winner."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
from pippin_fit import FitResult, is_explained

from .unseen import BlockErrors


@attrs.frozen(kw_only=True, eq=False)
class Candidate:
    """A solver with a law of actuators, fitted to the logs; or the reason why it was not."""

    solver: str
    """The name of its solver."""

    law: str
    """The name of its law: that of a file without its suffix, and `file` for the law of the file that is judged, if it
    is none of `LAWS`."""

    fit: FitResult | None = None
    """Its fit; None without one."""

    unseen: BlockErrors | None = attrs.field(default=None, repr=False)
    """For the core: what it leaves of the logs that the fit did not see; None if it was not fitted."""

    reason: str = ""
    """Why it was not fitted."""

    notes: tuple[str, ...] = ()
    """Warnings of its fit."""

    @property
    def name(self) -> str:
        """Solver and law."""
        return f"{self.solver} / {self.law}"

    @property
    def error(self) -> float:
        """Root mean square of the residuals in what the fit did not see [σ]; infinite without a fit."""
        return math.inf if self.unseen is None else self.unseen.error

    @property
    def value_count(self) -> int:
        """Number of the values that were fitted."""
        return 0 if self.fit is None else len(self.fit.verdicts)


@attrs.define(kw_only=True, eq=False, slots=False)
class Judgement:
    """Candidates by their errors in what no fit has seen, and which of them cannot be told apart."""

    folder: Path
    """The folder of its files."""

    candidates: tuple[Candidate, ...]
    """The candidates, the least error first; those that were not fitted are the last ones, and the first one was."""

    nominal: BlockErrors | None = attrs.field(repr=False)
    """For the core: what the file as it is leaves; None if its candidate was not fitted."""

    seed: int
    """Seed of the samples that the intervals come from."""

    @property
    def fitted(self) -> tuple[Candidate, ...]:
        """The candidates that were fitted."""
        return tuple(each for each in self.candidates if each.unseen is not None)

    @cached_property
    def alike(self) -> tuple[Candidate, ...]:
        """The candidates that cannot be told apart from the one with the least error, it among them."""
        best = self.candidates[0]
        pairs = [(each, each.unseen) for each in self.fitted]
        near = [one for one, own in pairs if own and best.unseen and own.is_alike(best.unseen, self.seed)]
        return (best, *(each for each in near if each is not best))

    @property
    def winner(self) -> Candidate:
        """Of the candidates that cannot be told apart, the one with the fewest values; of equal ones, the first."""
        return min(self.alike, key=lambda each: each.value_count)

    @property
    def is_explained(self) -> bool:
        """Whether the winner explains the logs: at most 5 σ are left of what it was fitted to, and of the rest."""
        winner = self.winner
        return winner.fit is not None and winner.fit.is_explained and is_explained(winner.error)

    @property
    def solvers(self) -> tuple[str, ...]:
        """Solvers that cannot be told apart under the law of the winner, its own first."""
        own = [each.solver for each in self.alike if each.law == self.winner.law]
        return tuple(dict.fromkeys([self.winner.solver, *own]))

    @property
    def laws(self) -> tuple[str, ...]:
        """Laws that cannot be told apart, that of the winner first."""
        return tuple(dict.fromkeys([self.winner.law, *(each.law for each in self.alike)]))

    @property
    def file(self) -> Path:
        """The file of the winner, which extends the user's."""
        return self.folder / "winner.toml"

    def summary(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        own = {name: getattr(self, name) for name in ("is_explained", "solvers", "laws", "seed")}
        own |= {"folder": str(self.folder), "file": str(self.file), "winner": self.winner.name}
        own["nominal"] = None if self.nominal is None else _finite(self.nominal.error)
        return {**own, "candidates": [self._row(each) for each in self.candidates]}

    def _row(self, each: Candidate) -> dict[str, Any]:
        row: dict[str, Any] = {"solver": each.solver, "law": each.law, "notes": each.notes}
        if each.fit is None or each.unseen is None:
            return {**row, "reason": each.reason}
        row |= {"error": _finite(each.error), "interval": [*map(_finite, each.unseen.interval(self.seed))]}
        row |= {"distance": _finite(each.unseen.distance), "residual": each.fit.costs[-1]}
        row |= {"values": each.value_count, "is_alike": each in self.alike}
        return {**row, "seconds": each.fit.seconds, "folder": str(each.fit.folder)}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
