"""A record of hook calls: the hook, the component that answered, the phase of the simulation, and the duration."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import attrs

TracePhase = Literal["build", "rehearsal", "first step", "recording", "comparison", "later steps", "close"]
"""`rehearsal`: calls without effect on the simulation, to compile or to check a solver's declaration. `recording` and
`comparison` are the capture: one call to record the graph, then a few eager calls to compare the graph with."""


@attrs.frozen(kw_only=True)
class HookCall:
    """One call, or one replay of a graph."""

    start: float
    """Time from the start of the trace to the call [s]."""

    phase: TracePhase
    """The phase of the simulation at that time."""

    hook: str
    """The hook's name, or `replay`."""

    owner: str
    """The component's name, the host, or a graph with its operations."""

    seconds: float
    """Time that the host spent in the call [s]; kernels launched on a CUDA device may still run after it."""


class HookTrace:
    """The hook calls of one simulation; pass it to `Simulation` and read `calls`.

    A hook in a graph is not called during a replay, so the record lists the replay instead. Memory grows with every
    call: trace short runs.
    """

    def __init__(self) -> None:
        #: The present phase; the host sets it.
        self.phase: TracePhase = "build"
        #: The calls so far, in the order in which they ended: a call follows the calls that it made.
        self.calls: list[HookCall] = []
        self._begin = time.perf_counter()

    def timed(self, hook: str, owner: str, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return a function that makes `call` and notes it, even if it raises.

        Args:
            hook: Name of the hook.
            owner: Name of the component that answers.
            call: The call without arguments.
        """

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
    def during(self, phase: TracePhase) -> Iterator[None]:
        """Set the phase for a `with` block."""
        before, self.phase = self.phase, phase
        try:
            yield
        finally:
            self.phase = before

    def write(self, path: Path) -> None:
        """Write all calls as CSV: one line for each, times in seconds.

        Args:
            path: The file, which is replaced if it is there.
        """
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(field.name for field in attrs.fields(HookCall))
            rows.writerows(attrs.astuple(call) for call in self.calls)

    def rows(self) -> list[tuple[str, ...]]:
        """Return a head, then count and times of the calls of each phase, hook and component, by their first calls."""
        groups: dict[tuple[str, str, str], list[float]] = {}
        for call in self.calls:
            groups.setdefault((call.phase, call.hook, call.owner), []).append(1e3 * call.seconds)
        rows: list[tuple[str, ...]] = [("phase", "hook", "answered by", "calls", "mean [ms]", "total [ms]")]
        for names, times in groups.items():
            rows.append((*names, str(len(times)), f"{sum(times) / len(times):.3f}", f"{sum(times):.3f}"))
        return rows

    def __str__(self) -> str:
        """Report count and duration of the calls of each component, hook and phase, in the order of the first calls."""
        rows = self.rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        cells = [zip(row, "<<<>>>", widths, strict=True) for row in rows]  # three columns of text, then numbers
        return "\n".join("  ".join(f"{cell:{side}{width}}" for cell, side, width in row) for row in cells)
