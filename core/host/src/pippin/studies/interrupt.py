"""Ctrl-C while a simulation steps: it ends a run between two steps, and a pause at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stopped_between_steps(simulation: Any = None) -> Iterator[Callable[[], None]]:
    """Prevent Ctrl-C from ending a step halfway: the yielded function raises instead. A second Ctrl-C acts at once, and
    so does the first one while the simulation waits for a viewer.

    Only the main thread gets signals; in other threads, and where Ctrl-C is ignored, the function never raises.

    Args:
        simulation: What steps, with an attribute `is_waiting`; by default it waits for nobody.

    Raises:
        KeyboardInterrupt: By the function, after Ctrl-C.
    """
    is_asked, before = False, signal.getsignal(signal.SIGINT)
    if before in (signal.SIG_IGN, None) or threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    def ask(*_: Any) -> None:
        nonlocal is_asked
        is_asked = True
        signal.signal(signal.SIGINT, before)
        if simulation is not None and simulation.is_waiting:
            raise KeyboardInterrupt

    def stop_if_asked() -> None:
        if is_asked:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, ask)
    try:
        yield stop_if_asked
    finally:
        signal.signal(signal.SIGINT, before)
