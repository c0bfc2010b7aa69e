"""Ctrl-C, SIGTERM and SIGHUP while a simulation steps: they end a run between two steps, and a pause at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def stopped_between_steps(simulation: Any = None) -> Iterator[Callable[[], None]]:
    """Prevent Ctrl-C from ending a step halfway: the yielded function raises instead. A second Ctrl-C acts at once, and
    so does the first one while the simulation waits for a viewer. SIGTERM and SIGHUP, by which Docker, systemd, Slurm
    and a closed terminal end a process, are as Ctrl-C, unless the program has a handler of its own for them.

    Only the main thread gets signals; in other threads the function never raises, nor for a signal that is ignored.

    Args:
        simulation: What steps, with an attribute `is_waiting`; by default it waits for nobody.

    Raises:
        KeyboardInterrupt: By the function, after Ctrl-C.
    """
    is_asked, before = False, _heard()
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    def ask(*_: Any) -> None:
        nonlocal is_asked
        is_asked = True
        _answer(before)
        if simulation is not None and simulation.is_waiting:
            raise KeyboardInterrupt

    def stop_if_asked() -> None:
        if is_asked:
            raise KeyboardInterrupt

    _answer(dict.fromkeys(before, ask))
    try:
        yield stop_if_asked
    finally:
        _answer(before)


def _heard() -> dict[int, Any]:
    """Return the handlers of the signals that stop a run: Python's for Ctrl-C, and those of `pippin_start`."""
    of_all = signal.getsignal(signal.SIGINT)
    found = {each: signal.getsignal(each) for each in _STOPS}
    known = (signal.SIG_DFL, of_all) if callable(of_all) else (signal.SIG_DFL,)
    return {each: how for each, how in found.items() if how in known and (each, how) != (signal.SIGINT, signal.SIG_DFL)}


def _answer(handlers: Mapping[int, Any]) -> None:
    for each, how in handlers.items():
        signal.signal(each, how)
