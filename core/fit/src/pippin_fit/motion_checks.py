"""Faults of logs that the motion shows: commands and measurements of two clocks, of other joints, or of other signs."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from pippin_fit.config import FitConfig

from .faults import Fault
from .log import Log

_SPAN = 0.05
"""Time over which motions are compared: anything shorter is noise [s]."""

_LONGEST = 2.0
"""Longest lag that is looked for [s]."""

_OF_DRIVE = 0.4
"""Longest lag of a drive behind its command [s]."""

_SURE, _CLEAR = 0.6, 0.3
"""Smallest correlation of a motion that follows its command, and how much higher that of another must be."""

_DRIFT, _LONG = 1e-3, 6.0
"""Drift of one clock against the other that is refused, and the shortest log that shows it [s]."""

_LEAST_DRIFT, _PER_LAG = 0.02, 0.5
"""Change of the lag that has other reasons, such as friction and frequency: a time [s], and a share of the lag."""


@attrs.frozen(kw_only=True)
class Alignment:
    """Lag of the motion of a log behind its commands."""

    lag: float
    """Median time from a command to the motion [s]."""

    drift: float
    """Change of the lag from the first third of the log to the last one [s]; 0 for a short log."""


def align(log: Log, config: FitConfig) -> Alignment | None:
    """Return the lag of the motion behind the commands; None if no joint follows its command clearly."""
    commanded, moved = _motions(log, config)
    parts = [slice(None)]
    if log.duration > _LONG:
        parts += [slice(0, len(commanded) // 3), slice(-(len(commanded) // 3), None)]
    lags, drifts = [], [0.0]
    for own, motion in zip(commanded.T, moved.T, strict=True):
        found = [_follows(own[part], motion[part], log.period) for part in parts]
        if found[0][0] > _SURE:
            lags.append(found[0][1])
            if log.duration > _LONG and min(share for share, _ in found) > _SURE:
                drifts.append(found[2][1] - found[1][1])
    return Alignment(lag=float(np.median(lags)), drift=float(np.median(drifts[1:] or drifts))) if lags else None


def motion_faults(log: Log, config: FitConfig) -> Iterator[Fault]:
    """Yield each fault that the motion shows."""
    if config.command == "feedforward":  # an effort moves a joint later and otherwise
        return
    yield from _wrong_joints(log, config)
    found = align(log, config)
    if found is None:
        return
    table = config.parameters.get("signals.delay")
    low, high = (0.0, 0.0) if table is None else table.range
    if not min(low, 0.0) - max(_SPAN, 2.0 * log.period) <= found.lag <= high + _OF_DRIVE:
        yield Fault(
            kind="lag",
            text=f"the joints move {found.lag:.3g} s after their commands; log both by one clock, or let signals.delay"
            " vary as far",
        )
    time = log.duration * 2.0 / 3.0
    if abs(found.drift) > max(_LEAST_DRIFT + _PER_LAG * abs(found.lag), _DRIFT * time):
        yield Fault(
            kind="lag",
            text=f"the lag of the joints behind their commands changes by {found.drift:.3g} s in {time:.3g} s, a drift"
            f" of {found.drift / time:.2g}; log both by one clock",
        )


def _wrong_joints(log: Log, config: FitConfig) -> Iterator[Fault]:
    """Yield a fault of each joint that moves against its command, or by the command of another joint."""
    commanded, moved = _motions(log, config)
    for column, joint in enumerate(log.joints):
        own, _ = _follows(commanded[:, column], moved[:, column], log.period)
        if own < -_SURE:
            yield Fault(
                kind="commands",
                text=f"{joint}: moves against its command; give both the sign of the simulation",
            )
        elif abs(own) < _SURE:
            shares = [
                abs(_follows(commanded[:, column], moved[:, other], log.period)[0]) for other in range(len(log.joints))
            ]
            best = int(np.argmax(shares))
            if shares[best] > max(_SURE, abs(own) + _CLEAR):
                yield Fault(
                    kind="commands",
                    text=f"{log.joints[best]} moves as {joint} is told; give the columns the right names of joints",
                )


def _motions(log: Log, config: FitConfig) -> tuple[np.ndarray, np.ndarray]:
    """Return the changes of commands and positions at equal steps of time, shape [steps, joints]."""
    times = np.arange(log.times[0], log.times[-1], log.period)
    span = max(1, round(_SPAN / log.period))
    commanded, positions = (
        np.stack([np.interp(times, log.times, values) for values in signals.T], axis=1)
        for signals in (log.commanded, log.signals["position"])
    )
    if config.command == "velocity_targets":
        commanded = np.cumsum(commanded, axis=0)
    return commanded[span:] - commanded[:-span], positions[span:] - positions[:-span]


def _follows(commanded: np.ndarray, moved: np.ndarray, period: float) -> tuple[float, float]:
    """Return how much a motion follows a command, from -1 to 1, and its lag behind it [s]."""
    commanded, moved = commanded - commanded.mean(), moved - moved.mean()
    size = np.sqrt((commanded @ commanded) * (moved @ moved))
    if size < 1e-12:
        return 0.0, 0.0
    count = 2 ** int(np.ceil(np.log2(2 * len(commanded))))
    product = np.fft.irfft(np.fft.rfft(moved, count) * np.fft.rfft(commanded, count).conj(), count) / size
    reach = min(round(_LONGEST / period), len(commanded) // 3)
    lags = np.arange(-reach, reach + 1)
    shares = product[lags] * len(commanded) / (len(commanded) - np.abs(lags))  # fewer samples overlap at long lags
    # A periodic motion follows at every period: the shortest lag explains it.
    best = int(np.argmax(np.abs(shares) * (1.0 - 0.3 * np.abs(lags) / max(reach, 1))))
    return float(shares[best]), float(lags[best] * period)
