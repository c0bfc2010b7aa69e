"""Faults of logs that would make wrong parameters look right: clocks, samples, units, and motions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence

import attrs
import numpy as np
from pippin import ConfigError
from pippin.labels import compiled

from pippin_fit.config import FitConfig

from .log import LOST, Log, RobotJoint, slopes


@attrs.frozen(kw_only=True)
class Fault:
    """A fault of a log."""

    text: str
    """The fault and its cure, for a message."""

    kind: str = ""
    """Its name in `accept`; empty if it cannot be accepted."""

    is_note: bool = False
    """Whether it is only said."""


_SLOWEST, _FASTEST = 1.0, 1e-5
"""Periods of samples that no log of a robot has [s]: times in milliseconds or nanoseconds that were read as seconds."""

_TURN = 6.3
_BEYOND = 0.1
"""How far positions may lie beyond the limits of a joint, as a share of the way between them."""

_COUNTS, _FROZEN = 10, 0.5
"""Counts of an encoder, over five samples, from which on a joint has a new position in each of them; and the share of
the whole way of a command that a joint may rest through.
"""

_REVERSALS = 4
_STILL = 1e-6


def refuse_faults(logs: Sequence[Log], config: FitConfig, joints: Mapping[str, RobotJoint]) -> None:
    """Refuse logs with faults, each with its cure; faults that `accept` names become warnings."""
    found = [(log.name, fault) for log in logs for fault in _faults(log, config, joints)]
    seen = [log for log in logs if not log.is_unseen]
    say_faults(found or [("", fault) for fault in _rest_faults(seen, config)], config)


def say_faults(found: Sequence[tuple[str, Fault]], config: FitConfig) -> None:
    """Warn of faults that are notes or accepted, and refuse the others with cures; an empty name means all logs."""
    refused = []
    for name, fault in found:
        text = ": ".join(filter(None, ["fit.logs", name, fault.text]))
        if fault.is_note or fault.kind in config.accept:
            warnings.warn(text, UserWarning, stacklevel=4)
        else:
            refused.append(text + (f', or accept = ["{fault.kind}"]' if fault.kind else ""))
    if refused:
        raise ConfigError(*refused)


def _faults(log: Log, config: FitConfig, joints: Mapping[str, RobotJoint]) -> Iterator[Fault]:
    if len(log.times) < 10:
        yield Fault(text=f"{len(log.times)} samples; a log needs at least 10")
        return
    for times, what in ((log.times, "times"), (log.command_times, "times of commands")):
        if not (np.diff(times) > 0.0).all():
            first = times[int(np.argmin(np.diff(times) > 0.0))]
            cure = "sort the samples, and drop those that come twice"
            yield Fault(text=f"{what} do not ascend at {first:g} s; {cure}")
            return
    if not _FASTEST < log.period < _SLOWEST:
        yield Fault(text=f"a sample each {log.period:g} s; times are in seconds: divide milliseconds or nanoseconds")
        return
    yield from _clock_faults(log, config)
    table = config.parameters.get("signals.offset")  # readings at zero, which the fit looks for
    offset = 0.0 if table is None else max(map(abs, table.range))
    for column, label in enumerate(log.joints):
        yield from _stale_faults(log, column)
        yield from _unit_faults(log, column, joints[label], offset)
    yield from motion_faults(log, config)


def _clock_faults(log: Log, config: FitConfig) -> Iterator[Fault]:
    steps, period = np.diff(log.times), log.period
    uneven = np.abs(steps - period * np.clip(np.round(steps / period), 1.0, LOST + 1.0))  # a lost sample is no jitter
    if (steps > 3.0 * period).any():
        first = int(np.argmax(steps > 3.0 * period))
        text = f"no samples for {steps[first]:.3g} s at {log.times[first]:g} s; cut the log there in two"
        yield Fault(kind="clock", text=text)
    elif (uneven > 0.5 * period).mean() > 0.01:
        text = "steps of time differ by more than half of their median; log the clock of the robot"
        yield Fault(kind="clock", text=text)
    elif (uneven > 0.1 * period).mean() > 0.01:
        share = float(np.percentile(uneven, 99) / period)
        yield Fault(
            is_note=True, text=f"steps of time differ by {share:.0%} of their median; log the clock of the robot"
        )
    needs_speed = [key for key in config.parameters if key.endswith((".friction", ".armature"))]
    if period > 0.04 and needs_speed:
        text = f"{1.0 / period:.3g} samples a second; friction and armature need 25: log faster"
        yield Fault(kind="rate", text=text)


def _stale_faults(log: Log, column: int) -> Iterator[Fault]:
    joint, commanded, positions = log.joints[column], log.commanded[:, column], log.signals["position"][:, column]
    moves = np.abs(np.diff(commanded)) > 0.0
    if np.array_equal(commanded, positions) and moves.any():
        yield Fault(text=f"{joint}: the commands are the measured positions; log what the robot was told")
        return
    is_still = (np.diff(positions) == 0.0) & moves
    if _is_frozen(commanded, positions):
        moves_on = moves
    else:  # a joint at rest sticks and repeats a count of its encoder, one that moves on has new ones
        steps = np.abs(np.diff(positions))
        count = steps[steps > 0.0].min(initial=np.inf)
        around = np.lib.stride_tricks.sliding_window_view(np.pad(positions, 2, mode="edge"), 6)
        moves_on = moves & (np.ptp(around, axis=1) > (_COUNTS - 0.5) * count)
    # One joint may stick at its turns; if no joint has a new value, the whole message is an old one.
    is_stale = is_still & (np.diff(log.signals["position"], axis=0) == 0.0).all(axis=1)
    most = 0.05 if len(log.joints) > 1 else 0.2
    still, stale = (np.count_nonzero(each & moves_on) for each in (is_still, is_stale))
    if stale > most * moves_on.sum() or still > 0.2 * moves_on.sum():
        share = still / moves_on.sum()
        text = f"{joint}: {share:.0%} of the samples repeat while the command moves; log fresh positions"
        yield Fault(kind="stale", text=text)


def _is_frozen(commanded: np.ndarray, positions: np.ndarray) -> bool:
    runs = np.split(commanded, np.flatnonzero(np.diff(positions) != 0.0) + 1)
    return np.ptp(commanded) > 0.0 and max(np.ptp(run) for run in runs) > _FROZEN * np.ptp(commanded)


def _unit_faults(log: Log, column: int, joint: RobotJoint, offset: float) -> Iterator[Fault]:
    positions = log.signals["position"][:, column]
    low, high = float(positions.min()), float(positions.max())
    width = joint.high - joint.low
    if joint.is_turning and high - low > (_TURN if width < _TURN else 20.0):
        yield Fault(
            kind="units",
            text=f'{joint.label}: positions range over {high - low:.3g}; set fit.units = "deg" for degrees, or to the'
            " angle of one unit [rad] for counts and shares of a range",
        )
        return
    slack = _BEYOND * width + offset
    if low < joint.low - slack or high > joint.high + slack:
        inside = -high >= joint.low - slack and -low <= joint.high + slack
        guess = "if it counts the other way round, set fit.signs" if inside else "correct its unit or its zero"
        text = (
            f"{joint.label}: positions from {low:.3g} to {high:.3g} are beyond its limits {joint.low:.3g} and"
            f" {joint.high:.3g}; {guess}"
        )
        yield Fault(kind="units", text=text)


def _rest_faults(logs: Sequence[Log], config: FitConfig) -> Iterator[Fault]:
    keys = [key for key in config.parameters if key.endswith(".friction")]
    for joint in logs[0].joints:
        own = [(log, log.joints.index(joint)) for log in logs if joint in log.joints]
        if all(np.ptp(array[:, at]) < _STILL for log, at in own for array in (log.signals["position"], log.commanded)):
            text = f"{joint}: at rest, which tells nothing of it; move it, `pippin excite` writes how"
            yield Fault(is_note=True, text=text)
            continue
        count = sum(_reversals(slopes(log)[:, at]) for log, at in own)
        if count < _REVERSALS and any(_varies(config, key, joint) for key in keys):
            text = (
                f"{joint}: turns {count} times, and friction needs {_REVERSALS} turns: not excited; `pippin excite`"
                " writes motions that do"
            )
            yield Fault(kind="excitation", text=text)


def _varies(config: FitConfig, key: str, joint: str) -> bool:
    patterns = config.parameters[key].joints
    names = (joint, joint.rpartition("/")[2])
    return patterns is None or any(compiled(pattern).fullmatch(name) for pattern in patterns for name in names)


def _reversals(speeds: np.ndarray) -> int:
    size = np.abs(speeds)
    signs = np.sign(speeds[size > 0.1 * np.percentile(size, 99)])
    return int(np.count_nonzero(np.diff(signs)))


_SPAN = 0.05
"""Time over which motions are compared: anything shorter is noise [s]."""

_LONGEST = 2.0
"""Longest lag that is looked for [s]."""

_PENALTY, _OPPOSITE = 0.02, 0.05
"""Shares of a correlation that the longest lag costs, and that an opposite motion costs."""

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
                kind="commands", text=f"{joint}: moves against its command; give both the sign of the simulation"
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
    product = np.fft.irfft(np.fft.rfft(moved, count) * np.fft.rfft(commanded, count).conj(), count)
    reach = min(round(_LONGEST / period), len(commanded) // 3)
    lags, length = np.arange(-reach, reach + 1), len(commanded)
    energies = [np.concatenate([[0.0], np.cumsum(values**2)]) for values in (commanded, moved)]
    early, late = np.maximum(-lags, 0), np.maximum(lags, 0)  # where the overlap begins
    told, done = (
        of[length - end] - of[begin] for of, begin, end in zip(energies, (early, late), (late, early), strict=True)
    )
    shares = product[lags] / np.maximum(np.sqrt(told * done), 1e-3 * size)
    # A periodic motion follows at every period, and is opposite at each half: the shortest lag explains it.
    sizes = np.where(shares < 0.0, 1.0 - _OPPOSITE, 1.0) * np.abs(shares)
    best = int(np.argmax(sizes * (1.0 - _PENALTY * np.abs(lags) / max(reach, 1))))
    near = max(0, best - round(_SPAN / period))
    best = near + int(np.argmax(sizes[near : best + round(_SPAN / period) + 1]))
    return float(shares[best]), float(lags[best] * period)
