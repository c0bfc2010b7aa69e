"""Length of a run: its number of control steps, from steps or a duration."""

from __future__ import annotations

import math

from pippin.config import SimulationConfig
from pippin.errors import ConfigError

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
