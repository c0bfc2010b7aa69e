"""A loop in real time: its deadlines, how late each period begins, and the scheduler that the system grants."""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from pippin import ConfigError

RealTime = Literal["off", "try", "require"]
"""Whether the loop asks the system to come before other programs."""

_SPIN = 2e-4
"""Time before a deadline from which on the loop does not sleep [s]."""

_PRIORITY = 10


class Deadlines:
    """Deadlines of a period each. A loop that is late by periods leaves them out: it never runs two at once.

    Args:
        period: Time from one deadline to the next [s].
        catches_up: Longest delay that later periods make up for, without a wait between them, as a simulation can [s].
    """

    def __init__(self, period: float, catches_up: float = 0.0) -> None:
        self.period, self._patience = period, max(period, catches_up)
        #: How late each period began [s].
        self.late: list[float] = []
        #: Number of periods that were left out.
        self.dropped: int = 0
        #: Time of the first deadline, on the clock of `time.monotonic` [s].
        self.start: float = time.monotonic()
        self._next = self._last = self.start

    def begin(self) -> None:
        """Let the first deadline be now."""
        self.start = self._next = self._last = time.monotonic()
        self.late.clear()
        self.dropped = 0

    def wait(self) -> float:
        """Wait for the next deadline, and return how late it is [s]."""
        self._next += self.period
        left = self._next - time.monotonic()
        if left > _SPIN:
            time.sleep(left - _SPIN)
        while (now := time.monotonic()) < self._next:
            pass
        late, self._last = now - self._next, now
        if late >= self._patience:
            count = int(late / self.period)
            self.dropped += count
            self._next += count * self.period
        self.late.append(late)
        return late

    @property
    def seconds(self) -> float:
        """Time from the first deadline to the last one [s]."""
        return self._last - self.start

    @property
    def rate(self) -> float:
        """Frequency that was reached [Hz]."""
        return len(self.late) / self.seconds if self.late else 0.0


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """Return percentiles of times by their name, in the unit of the times; nothing without times."""
    if not len(times):
        return {}
    ranks = {"p50": 50.0, "p99": 99.0, "p99.9": 99.9, "max": 100.0}
    return dict(zip(ranks, np.percentile(times, list(ranks.values())).tolist(), strict=True))


@contextlib.contextmanager
def before_others(choice: RealTime) -> Iterator[str]:
    """Ask the system to run this thread before other programs, without pauses of the garbage collector.

    Yields what was granted, in words.

    Raises:
        ConfigError: It was required, and is not granted.
    """
    granted, before = "not asked for", None
    if choice != "off":
        try:
            before = os.sched_getscheduler(0), os.sched_getparam(0)
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
            granted = f"FIFO, priority {_PRIORITY}"
        except (OSError, AttributeError) as error:
            before = None
            granted = f"not granted ({error})"
            if choice == "require":
                raise ConfigError(
                    f"--realtime: the system does not grant SCHED_FIFO ({error}); run as root, give the program"
                    " CAP_SYS_NICE or an rtprio limit, or use --realtime try"
                ) from error
    gc.collect()
    gc.freeze()
    try:
        yield granted
    finally:
        gc.unfreeze()
        if before is not None:
            os.sched_setscheduler(0, *before)
