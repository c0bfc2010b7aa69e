"""Ctrl-C in commands that step a simulation: it ends a run between two steps, and a pause at once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

__all__ = ["Waiting", "stopped_between_steps"]


class Waiting(Protocol):
    """Something that steps, and may wait between two steps."""

    @property
    def is_waiting(self) -> bool:
        """Whether it waits, so that an exception ends no step halfway."""
        ...


@contextmanager
def stopped_between_steps(simulation: Waiting) -> Iterator[Callable[[], None]]:
    """Prevent Ctrl-C from ending a step halfway: the yielded function raises instead. A second Ctrl-C acts at once, and
    so does the first one while the simulation waits for a viewer.

    Args:
        simulation: The simulation.
    """
    is_asked = False

    def ask(*_: Any) -> None:
        nonlocal is_asked
        is_asked = True
        signal.signal(signal.SIGINT, before)
        if simulation.is_waiting:
            raise KeyboardInterrupt

    def stop_if_asked() -> None:
        if is_asked:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, ask) or signal.SIG_DFL
    try:
        yield stop_if_asked
    finally:
        signal.signal(signal.SIGINT, before)
