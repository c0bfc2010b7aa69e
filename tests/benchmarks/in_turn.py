"""Two sides timed in turn in one process, so that a ratio holds where the speed of the machine drifts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import warp as wp

__all__ = ["TURNS", "Clock", "Repeat", "in_turn", "recorded", "seconds"]

TURNS = 101

Repeat = Callable[[int], None]
"""Does something some times."""

Clock = Callable[[], float]
"""Returns a time [s]; `time.process_time` leaves out what other processes take, and holds on one thread alone."""


def seconds(repeat: Repeat, count: int, device: wp.Device, clock: Clock = time.perf_counter) -> float:
    """Return how long `count` times take [s]."""
    wp.synchronize_device(device)
    start = clock()
    repeat(count)
    wp.synchronize_device(device)
    return clock() - start


def recorded(run: Callable[[], None], device: str) -> Repeat:
    """Run once, record, and return what replays it."""
    run()
    with wp.ScopedCapture(device=device) as capture:
        run()

    def replay(count: int) -> None:
        for _ in range(count):
            wp.capture_launch(capture.graph)

    return replay


def in_turn(
    first: Repeat,
    second: Repeat,
    device: wp.DeviceLike,
    spell: float = 0.05,
    clock: Clock = time.perf_counter,
) -> Iterator[tuple[float, float]]:
    """Yield the seconds that one time takes on each side, turn by turn; who begins changes.

    Args:
        first: One side.
        second: The other side.
        device: Where both run.
        spell: About how long one side runs in a turn [s].
        clock: What both are timed by.
    """
    device = wp.get_device(device)
    sides = (first, second)
    once = max(seconds(side, 10, device) for side in sides) / 10
    count = max(1, round(spell / once))
    for turn in range(TURNS):
        times = [0.0, 0.0]
        for side in (0, 1) if turn % 2 else (1, 0):
            times[side] = seconds(sides[side], count, device, clock) / count
        yield times[0], times[1]
