"""Frame of whatever simulates: how long it runs, what it records by default, the import of Newton, and Ctrl-C."""

from __future__ import annotations

import gc
import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pippin.config import SimulationConfig
from pippin.config.extras import refuse_missing_extras
from pippin.errors import ConfigError
from pippin.simulation import import_hot_modules

from .progress import RunProgress

DEFAULT_DURATION = 5.0
"""Simulated time if neither steps nor a duration are given [s]."""


def step_count(config: SimulationConfig, steps: int | None, duration: float | None) -> int:
    """Return the number of control steps of a run.

    Args:
        config: The configuration.
        steps: The number, if it is given.
        duration: The simulated time in its place [s]; without both, it is 5 s.

    Raises:
        ConfigError: Both are given, or the time is no whole number of control steps.
    """
    control_dt = config.simulation.dt * config.simulation.decimation
    if steps is not None and duration is not None:
        raise ConfigError(f"duration: got {duration!r} and {steps!r} steps; give only one of the two")
    if steps is not None:
        if steps < 1:
            raise ConfigError(f"steps: expected at least 1, got {steps!r}")
        return steps
    if duration is None:
        return math.ceil(round(DEFAULT_DURATION / control_dt, 6))
    if not (math.isfinite(duration) and duration > 0.0):
        raise ConfigError(f"duration: expected a positive time in seconds, got {duration!r}")
    count = round(duration / control_dt)
    if count < 1 or not math.isclose(count * control_dt, duration, rel_tol=1e-9):
        below = math.floor(duration / control_dt)
        near = " or ".join(f"{whole * control_dt:.9g}" for whole in (below, below + 1) if whole)
        raise ConfigError(
            f"duration: expected a whole number of control steps of {control_dt:.9g} s, got {duration!r}; use {near}"
        )
    return count


def recorded_by_default(config: SimulationConfig, record_worlds: int | None) -> int:
    """Return how many worlds the default recorder records; 0 if the file has recorders of its own."""
    if not config.recorders:
        return min(1 if record_worlds is None else record_worlds, config.scene.worlds)
    if record_worlds is not None:
        label = next(iter(config.recorders))
        raise ConfigError(f"record_worlds: the file has recorders of its own; set recorders.{label}.worlds instead")
    return 0


def import_newton(config: SimulationConfig, progress: RunProgress) -> None:
    """Import Newton and Warp, which takes seconds.

    Args:
        config: The configuration: it tells whether kernels have gradients.
        progress: Shows the phase.

    Raises:
        ConfigError: The configuration needs an extra that is not installed.
    """
    refuse_missing_extras(config)
    with progress.phase("import"):
        import_hot_modules(requires_grad=config.simulation.requires_grad)
    if progress.owns_process:
        gc.freeze()  # the collector need not walk what was imported during the run


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
