"""A record of hook calls: which hook, who answered, in which phase of a simulation's life, and for how long."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import attrs

__all__ = ["HookCall", "HookTrace", "Phase"]

Phase = Literal["build", "rehearsal", "first step", "recording", "comparison", "later steps", "close"]
"""`rehearsal`: called while nothing counts, to compile or to hold a solver to its claims. `recording` and `comparison`
are the capture: called once for the graph, then a few times eagerly to compare the graph with."""


@attrs.frozen(kw_only=True)
class HookCall:
    """One call, or one replay of a graph."""

    start: float
    """When it began, since the trace did [s]."""

    phase: Phase
    hook: str
    """The hook's name, or `replay`."""

    owner: str
    """Who answered: a component's name, the host, or a graph and the operations that it replays."""

    seconds: float
    """How long the host was busy with it [s]; what it launched on a CUDA device may still have been running."""


class HookTrace:
    """Every hook call of one simulation, in the order of the calls; pass it to `Simulation` and read `calls`.

    A hook that is replayed from a graph is not called: the replay is listed instead. Every call is kept: trace short
    runs.
    """

    def __init__(self) -> None:
        self.phase: Phase = "build"
        """What the simulation is at; the host keeps it."""
        self.calls: list[HookCall] = []
        """The calls so far; one that makes others ends after them."""
        self._begin = time.perf_counter()

    def timed(self, hook: str, owner: str, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return `call`, noted whenever it is made, also where it raises."""

        def run() -> Any:
            phase, start = self.phase, time.perf_counter()
            try:
                return call()
            finally:
                seconds = time.perf_counter() - start
                note = HookCall(start=start - self._begin, phase=phase, hook=hook, owner=owner, seconds=seconds)
                self.calls.append(note)

        return run

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        """Be in a phase inside a `with` block."""
        before, self.phase = self.phase, phase
        try:
            yield
        finally:
            self.phase = before

    def write(self, path: Path) -> None:
        """Write all calls as CSV, one line each, times in seconds."""
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(field.name for field in attrs.fields(HookCall))
            rows.writerows(attrs.astuple(call) for call in self.calls)

    def __str__(self) -> str:
        """Report how often each component answered each hook in each phase, and for how long, by their first calls."""
        groups: dict[tuple[str, str, str], list[float]] = {}
        for call in self.calls:
            groups.setdefault((call.phase, call.hook, call.owner), []).append(1e3 * call.seconds)
        rows = [("phase", "hook", "answered by", "calls", "mean [ms]", "total [ms]")]
        for names, times in groups.items():
            rows.append((*names, str(len(times)), f"{sum(times) / len(times):.3f}", f"{sum(times):.3f}"))
        return "\n".join(_aligned(rows))


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines: three columns of words, then numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [f"{cell:{side}{width}}" for cell, side, width in zip(row, "<<<>>>", widths, strict=True)]
        yield "  ".join(cells)
