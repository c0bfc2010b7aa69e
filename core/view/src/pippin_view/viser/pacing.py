"""Pacing: the waiting time for a simulation at a given speed, and a meter of its actual speed."""

from __future__ import annotations

import math
import time

_LAG_MAX = 0.1
"""Delay after which a simulation that is too slow does not try to catch up any more [s]."""

_METER_PERIOD = 0.5
"""Time over which a speed is measured [s]."""


class Pace:
    """The speed of simulated time."""

    def __init__(self, speed: float | None) -> None:
        #: Simulated time per real time; None means as fast as possible.
        self.speed = speed
        self._start: tuple[float, float, float] | None = None

    def restart(self) -> None:
        """Count from now on, for example after a pause."""
        self._start = None

    def wait_time(self, simulated: float) -> float:
        """Return how long to wait before the next step [s], at a simulated time [s]."""
        if self.speed is None:
            return 0.0
        now = time.perf_counter()
        if self._start is None or self._start[2] != self.speed:
            self._start = (now, simulated, self.speed)
        began, first, _ = self._start
        left = began + (simulated - first) / self.speed - now
        if left < -_LAG_MAX or simulated < first:
            self._start = (now, simulated, self.speed)
        return max(left, 0.0)


class Meter:
    """Measures how fast a count grows in real time, over half a second."""

    def __init__(self) -> None:
        self._began, self._first = -math.inf, 0
        #: The last measured rate [1/s]; None until there is one.
        self.rate: float | None = None

    def restart(self) -> None:
        """Forget the measurement, for example because the simulation is paused."""
        self._began, self.rate = -math.inf, None

    def look(self, count: int) -> float | None:
        """Return the rate [1/s], with what is counted now."""
        now = time.perf_counter()
        passed = now - self._began
        if math.isinf(passed):
            self._began, self._first = now, count
        elif passed >= _METER_PERIOD:
            self.rate = (count - self._first) / passed
            self._began, self._first = now, count
        return self.rate
