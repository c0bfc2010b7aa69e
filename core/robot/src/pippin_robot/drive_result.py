"""Outcome of a drive: how it ended, how exact it was, and what was limited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs


@attrs.frozen(kw_only=True, eq=False)
class DriveResult:
    """Outcome of a drive."""

    folder: Path | None
    """The run folder; None without a recording."""
    what: str
    """What moved the robot, in words."""
    fault: str | None
    """What ended it early; None if nothing did."""
    kind: str | None
    """The kind of the fault; `stop` if the user stopped it."""
    left: str
    """How the robot was left: as `robot.safety.on_fault` says, `as found`, or `untouched` by a dry run."""
    seconds: float
    """Time of the loop [s]."""
    rate: float
    """Frequency that was reached [Hz]."""
    late: Mapping[str, float]
    """How late periods began, by percentile [s]."""
    round_trip: Mapping[str, float]
    """Times of reading and writing, by percentile [s]."""
    dropped: int
    """Periods that were left out, as they were too late."""
    lost: int
    """Periods without a reading."""
    limited: Mapping[str, Mapping[str, int]]
    """How often each limit acted, by its kind and joint."""
    scheduler: str
    """What the system granted."""
    counts: Mapping[str, int]
    """Numbers of the driver, such as of packets."""
    residual: Mapping[str, float]
    """Root mean square of what was measured less what the shadow expected, by joint [rad or m]; empty without one."""
    notes: Sequence[str]
    """Facts that a reader should know."""

    @property
    def is_stopped_by_safety(self) -> bool:
        """Whether a fault ended it, and not the user."""
        return self.fault is not None and self.kind != "interrupt"

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data, for JSON."""
        return attrs.asdict(self) | {"folder": None if self.folder is None else str(self.folder)}


def shown(result: DriveResult) -> Iterator[str]:
    """Yield what a drive did, in lines."""
    yield f"{result.seconds:.1f} s at {result.rate:.2f} Hz; {result.dropped} left out, {result.lost} without a reading"
    for what, numbers in (("late", result.late), ("read and write", result.round_trip)):
        texts = ", ".join(f"{name} {1e3 * value:.3f}" for name, value in numbers.items())
        yield f"{what} [ms]: {texts or 'nothing'}"
    yield f"scheduler: {result.scheduler}"
    yield "driver: " + ", ".join(f"{name} {value}" for name, value in result.counts.items())
    for kind, joints in result.limited.items():
        yield f"limit on {kind}: " + ", ".join(f"{name} {count} times" for name, count in joints.items())
    if result.residual:
        texts = ", ".join(f"{name} {value:.4f}" for name, value in result.residual.items())
        yield f"measured less expected, root mean square: {texts}"
    yield from result.notes
