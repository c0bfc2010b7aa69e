"""Faults of logs that would make wrong parameters look right."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from pippin.config.fit import FitConfig
from pippin.errors import ConfigError

from .log import Log

_SLOWEST, _FASTEST = 1.0, 1e-5
"""Periods of samples that no log of a robot has [s]: times in milliseconds or nanoseconds that were read as seconds."""


def refuse_faults(logs: Sequence[Log], config: FitConfig) -> None:
    """Refuse logs with faults; those that `accept` names are warned of.

    Raises:
        ConfigError: Names each log, its fault, and the cure.
    """
    faults = []
    for log in logs:
        for kind, fault in _faults(log):
            text = f"fit.logs: {log.name}: {fault}"
            if kind in config.accept:
                warnings.warn(text, UserWarning, stacklevel=3)
            else:
                faults.append(text + (f', or accept = ["{kind}"]' if kind else ""))
    if faults:
        raise ConfigError(*faults)


def _faults(log: Log) -> Iterator[tuple[str, str]]:
    """Yield each fault, after its kind if it may be accepted."""
    if len(log.times) < 10:
        yield "", f"{len(log.times)} samples; a log needs at least 10"
        return
    steps = np.diff(log.times)
    if not (steps > 0.0).all():
        first = int(np.argmin(steps > 0.0))
        yield "", f"times do not ascend at {log.times[first]:g} s; sort the samples, and drop those that come twice"
        return
    period = log.period
    if not _FASTEST < period < _SLOWEST:
        yield "", f"a sample each {period:g} s; times are in seconds: divide milliseconds or nanoseconds"
        return
    if (steps > 3.0 * period).any():
        first = int(np.argmax(steps > 3.0 * period))
        yield "clock", f"no samples for {steps[first]:.3g} s at {log.times[first]:g} s; cut the log there in two"
    elif (np.abs(steps - period) > 0.5 * period).mean() > 0.01:
        yield "clock", "steps of time differ by more than half of their median; log the clock of the robot"
    if period > 0.04:
        yield "rate", f"{1.0 / period:.3g} samples a second; friction and armature need 25: log faster"
    positions, command = log.signals["position"], log.told
    for column, joint in enumerate(log.joints):
        moves = np.abs(np.diff(command[:, column])) > 0.0
        if np.array_equal(command[:, column], positions[:, column]) and moves.any():
            yield "", f"{joint}: the commands are the measured positions; log what the robot was told"
            continue
        is_still = (np.diff(positions[:, column]) == 0.0) & moves
        if moves.any() and is_still.sum() > 0.2 * moves.sum():
            share = is_still.sum() / moves.sum()
            yield "stale", f"{joint}: {share:.0%} of the samples repeat while the command moves; log fresh positions"
        if np.ptp(positions[:, column]) > 20.0:
            yield (
                "units",
                f"{joint}: positions range over {np.ptp(positions[:, column]):.3g}; convert degrees to radians",
            )
