"""Pacing: the waiting time for a simulation at a given speed, and a meter of its actual speed."""

from __future__ import annotations

import math
import time

_LAG_MAX = 0.1
"""Delay after which a simulation that is too slow does not try to catch up any more [s]."""

_METER_PERIOD = 0.5
"""Time over which a speed is measured [s]."""


class Pace:
    """The speed of simulated time.

    Args:
        speed: Simulated time per real time; None means as fast as possible.
    """

    def __init__(self, speed: float | None) -> None:
        self._speed = speed
        self._start: tuple[float, float] | None = None

    @property
    def speed(self) -> float | None:
        """Simulated time per real time; None means as fast as possible."""
        return self._speed

    @speed.setter
    def speed(self, speed: float | None) -> None:
        self._speed = speed
        self.restart()

    def restart(self) -> None:
        """Count from now on, for example after a pause."""
        self._start = None

    def wait_time(self, simulated: float) -> float:
        """Return how long to wait before the next step [s].

        Args:
            simulated: Simulated time [s].
        """
        if self._speed is None:
            return 0.0
        now = time.perf_counter()
        if self._start is None:
            self._start = (now, simulated)
        began, first = self._start
        left = began + (simulated - first) / self._speed - now
        if left < -_LAG_MAX or simulated < first:
            self._start = (now, simulated)
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
        """Return the rate [1/s].

        Args:
            count: What is counted, now.
        """
        now = time.perf_counter()
        passed = now - self._began
        if math.isinf(passed):
            self._began, self._first = now, count
        elif passed >= _METER_PERIOD:
            self.rate = (count - self._first) / passed
            self._began, self._first = now, count
        return self.rate
