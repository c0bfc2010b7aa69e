"""Comparison of two simulations step by step: the first array, world and step that differ."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from pippin import Simulation
from pippin.arrays import present

from pippin_conformance.observation import StateSnapshot, advance

from .rows import WrongResult


@attrs.define
class StepComparison:
    """A comparison of the results of steps. A difference is relative to 1 + the size of the number."""

    names: tuple[str, str]
    """The two sides, in the text of a wrong result."""

    tolerance: float = 0.0
    reason: str = ""
    has_numbers_alone: bool = False
    """Whether integers are left out, which may be numbers of elements of all worlds."""

    largest: float = 0.0
    """Largest difference so far."""

    def run(self, left: Simulation, right: Simulation, steps: int) -> str:
        """Advance both sides, compare the worlds that both have after each step, and return the outcome in words."""
        for step in range(1, steps + 1):
            worlds = range(min(left.world_count, right.world_count))
            self.add(advance(left, 1), advance(right, 1), worlds, step)
        return str(self)

    def add(self, left: StateSnapshot, right: StateSnapshot, worlds: Sequence[int], step: int) -> None:
        """Compare some worlds after a step.

        Raises:
            WrongResult: They differ.
        """
        for name, rows in left.worlds.items():
            if rows is None or (self.has_numbers_alone and left.arrays[name].dtype.kind in "iu"):
                continue
            chosen = np.isin(rows, worlds)
            first = left.arrays[name][chosen].astype(float)
            second = right.arrays[name][np.isin(present(right.worlds[name]), worlds)].astype(float)
            difference = np.abs(first - second) / (1.0 + np.abs(second))
            same = (difference <= self.tolerance) | (first == second) | (np.isnan(first) & np.isnan(second))
            for index in map(tuple, np.argwhere(~same)[:1]):
                place = f"{name}[{', '.join(map(str, index))}] of world {rows[chosen][index[0]]} at step {step}"
                mine, other = (f"{side[index]:.9g} {of}" for side, of in zip((first, second), self.names, strict=True))
                raise WrongResult(f"{place}: {mine}, {other}; allowed: {self}")
            self.largest = max(self.largest, float(np.max(difference, initial=0.0, where=np.isfinite(difference))))

    def __str__(self) -> str:
        if not self.tolerance:
            return "the same bits"
        return f"{self.tolerance:.0e}, as {self.reason}; largest difference {self.largest:.1e}"
