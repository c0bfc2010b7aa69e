"""Logs of a robot: its joints, its commands and measurements over time, and the windows that they are divided into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

import attrs
import newton
import numpy as np
from pippin import ConfigError, did_you_mean
from pippin.arrays import on_host
from pippin.axes import choose_axes

from pippin_fit.config import FitConfig

from .readers.reader import read_arrays


@attrs.frozen(kw_only=True)
class RobotJoint:
    """A joint with one coordinate."""

    label: str

    dof: int
    """Index of its degree of freedom in the model."""

    coordinate: int
    """Index of its coordinate."""

    is_turning: bool
    """Whether it turns, and its numbers are angles; otherwise it slides."""

    low: float
    """Lower limit [rad or m]; minus infinity without one."""

    high: float
    """Upper limit [rad or m]."""


_NO_LIMIT = 1e6
"""Limits from which on there are none, as Newton writes them [rad or m]."""


def robot_joints(model: newton.Model) -> Mapping[str, RobotJoint]:
    """Return the joints of a model by label."""
    axes, _ = choose_axes(model, ".*", "fit.logs")
    starts, coordinates = on_host(model.joint_qd_start), on_host(model.joint_q_start)
    low, high = on_host(model.joint_limit_lower), on_host(model.joint_limit_upper)
    dimensions: Any = on_host(model.joint_dof_dim)
    found = {}
    for (joint, axis), label in axes.items():
        dof = int(starts[joint]) + axis
        ends = (float(low[dof]), float(high[dof]))
        has_limits = ends[0] < ends[1] and max(map(abs, ends)) < _NO_LIMIT
        found[label] = RobotJoint(
            label=label,
            dof=dof,
            coordinate=int(coordinates[joint]) + axis,
            is_turning=axis >= int(dimensions[joint, 0]),
            low=ends[0] if has_limits else -float("inf"),
            high=ends[1] if has_limits else float("inf"),
        )
    return found


_NEAREST = 4
"""Samples on each side of one of which a velocity is the slope."""

_UNITS = {"rad": 1.0, "deg": np.pi / 180.0}


@attrs.frozen(kw_only=True, eq=False)
class Log:
    """A log: commands of a robot, and its measurements."""

    name: str
    """The file, and the world or the episode if it has several."""

    times: np.ndarray
    """Times of the measurements [s], shape [samples]."""

    joints: tuple[str, ...]
    """Labels of the joints, as in the simulation."""

    command_times: np.ndarray
    """Times of the commands [s], shape [commands]: as the measurements, or times of their own."""

    command: np.ndarray
    """Commands [rad or m, per second, or N and N·m], shape [commands, joints]."""

    signals: Mapping[str, np.ndarray]
    """Measured `position` [rad or m] and perhaps `velocity`, shape [samples, joints] each."""

    sliding: frozenset[str] = frozenset()
    """Labels of the joints that slide; the others turn."""

    notes: tuple[str, ...] = ()
    """Remarks of the reader on the file."""

    is_unseen: bool = False
    """Whether the fit does not see it, and is validated by it."""

    @property
    def period(self) -> float:
        """Median time from a sample to the next [s]."""
        return float(np.median(np.diff(self.times)))

    @property
    def duration(self) -> float:
        """Time from the first sample to the last one [s]."""
        return float(self.times[-1] - self.times[0])

    @property
    def commanded(self) -> np.ndarray:
        """The last command at each sample, shape [samples, joints]; before the first one, that one."""
        last = np.searchsorted(self.command_times, self.times + 1e-9, side="right") - 1
        return self.command[np.maximum(last, 0)]


def read_logs(files: Sequence[str | Path], config: FitConfig, known: Mapping[str, RobotJoint]) -> tuple[Log, ...]:
    """Return the logs of files, then the logs of the validation; a file may have several.

    Raises:
        ConfigError: A pattern matches no file, or a file is no log, or names joints that do not exist; or a log of the
            validation is also fitted.
        PluginError: The reader of a file, or its library, is not installed.
    """
    seen, unseen = log_paths(files), log_paths(config.validation_logs, "fit.validation_logs")
    if both := {path.resolve() for path in seen} & {path.resolve() for path in unseen}:
        raise ConfigError(
            f"fit.validation_logs: '{min(both)}' is also fitted, and proves nothing; name another log, or name some of"
            " its logs in fit.validation"
        )
    judges = [log for path in unseen for log in _logs_of(path, config, known)]
    return (
        *_marked([log for path in seen for log in _logs_of(path, config, known)], config),
        *(attrs.evolve(log, is_unseen=True) for log in judges),
    )


def _marked(logs: Sequence[Log], config: FitConfig) -> Iterator[Log]:
    patterns = config.validation if isinstance(config.validation, tuple) else ()
    names = [log.name for log in logs]
    for pattern in patterns:
        if not any(PurePath(name).match(pattern) for name in names):
            raise ConfigError(f"fit.validation: {pattern!r} matches no log; logs: {', '.join(names)}")
    for log in logs:
        yield attrs.evolve(log, is_unseen=any(PurePath(log.name).match(pattern) for pattern in patterns))


def log_paths(files: Iterable[str | Path], where: str = "fit.logs") -> list[Path]:
    """Return the files, or folders, of patterns that stand somewhere; a pattern that matches none is refused."""
    found: list[Path] = []
    for file in files:
        pattern = Path(file)
        rest = pattern.relative_to(pattern.anchor) if pattern.anchor else pattern
        paths = [pattern] if pattern.exists() else sorted(Path(pattern.anchor).glob(str(rest)))
        if not paths:
            raise ConfigError(f"{where}: {str(file)!r} matches no file; name a log, .npz, .csv or a recording")
        found += paths
    return found


def _logs_of(path: Path, config: FitConfig, known: Mapping[str, RobotJoint]) -> Iterator[Log]:
    for arrays, form in read_arrays(path, config.reader, config.command):
        name = ", ".join(filter(None, [str(path), arrays.get("name", "")]))
        try:
            log = log_of(name, arrays, config, known)
        except (ValueError, LookupError, TypeError) as error:
            raise ConfigError(f"fit.logs: '{path}' is no log ({error}); {form}") from error
        yield from _pieces(log, are_common="command_time" not in arrays)


def log_of(name: str, arrays: Mapping[str, Any], config: FitConfig, known: Mapping[str, RobotJoint]) -> Log:
    """Return a log of arrays whose names and shapes are right, in the units of the simulation."""
    times = np.asarray(arrays["time"], dtype=float)
    every = [str(joint) for joint in arrays["joints"]]
    _refuse_unknown("fit.leave_out", name, config.leave_out, every)
    kept = [number for number, joint in enumerate(every) if joint not in config.leave_out]
    own = [every[number] for number in kept]
    labels = [_label(name, config.joints.get(joint, joint), known) for joint in own]
    if len(set(labels)) < len(labels):
        raise ConfigError(f"fit.logs: {name}: two joints mean the same one; give 'fit.joints' their labels")
    command_times = np.asarray(arrays.get("command_time", times), dtype=float)
    scales = _scales(name, own, [known[label] for label in labels], config)
    numbers = {}
    for kind in ("position", "velocity", "command"):
        if kind in arrays:
            of_kind = command_times if kind == "command" else times
            factor = np.sign(scales) if (kind, config.command) == ("command", "feedforward") else scales
            numbers[kind] = _numbers(kind, arrays[kind], of_kind, len(every))[:, kept] * factor
    if missing := {"position", "command"} - numbers.keys():
        raise LookupError(f"there is no {min(missing)}")
    notes, measured = list(arrays.get("notes", ())), {kind: each for kind, each in numbers.items() if kind != "command"}
    is_whole = _is_whole(name, times, *measured.values())
    times, measured = times[is_whole], {kind: each[is_whole] for kind, each in measured.items()}
    is_told = _is_whole(name, command_times, numbers["command"])
    command_times, command = command_times[is_told], numbers["command"][is_told]
    if not is_whole.all():
        notes.append(f"{np.count_nonzero(~is_whole)} samples that are not finite are left out")
    is_commanded = times >= command_times.min() - 1e-9  # before its first command, the command of a robot is unknown
    if not is_commanded.all():
        notes.append(f"{np.count_nonzero(~is_commanded)} samples before the first command are left out")
    return Log(
        name=name,
        times=times[is_commanded],
        joints=tuple(labels),
        command_times=command_times,
        command=command,
        signals={kind: array[is_commanded] for kind, array in measured.items()},
        sliding=frozenset(label for label in labels if not known[label].is_turning),
        notes=tuple(notes),
    )


def _numbers(kind: str, array: Any, times: np.ndarray, joints: int) -> np.ndarray:
    found = np.asarray(array, dtype=float)
    if found.shape != (len(times), joints) or not len(times):
        raise ValueError(f"{kind!r} has shape {found.shape}, not {(len(times), joints)}")
    return found


_MOST_LOST = 0.1
"""Share of the rows of a log that may be lost."""

LOST = 2
"""Most samples in succession that may be lost; more of them divide a log."""

_SHORTEST_PIECE = 10
"""Samples that a piece of a log needs."""


def _is_whole(name: str, times: np.ndarray, *arrays: np.ndarray) -> np.ndarray:
    found = np.asarray(np.isfinite(np.column_stack([times, *arrays])).all(axis=1))
    if np.count_nonzero(~found) > _MOST_LOST * len(found):
        raise ConfigError(
            f"fit.logs: {name}: {np.count_nonzero(~found)} of {len(found)} rows are not finite, the first one is row"
            f" {int(np.argmin(found))}; leave that part out"
        )
    return found


def _pieces(log: Log, *, are_common: bool) -> Iterator[Log]:
    """Yield the pieces of a log between gaps of several samples, in which nobody knows the commands.

    Where one or two rows are lost, the command is on a straight line, if each row has a command.
    """
    steps = np.diff(log.times)
    if not len(steps) or not (steps > 0.0).all() or not (np.diff(log.command_times) > 0.0).all():
        yield log  # a check says what is wrong
        return
    counts, notes = np.round(steps / log.period), list(log.notes)
    lost = np.flatnonzero((counts > 1) & (counts <= LOST + 1))
    if len(lost):
        notes.append(f"{int((counts[lost] - 1).sum())} samples are missing")
    times = log.command_times
    if are_common and len(lost):
        parts = [log.times[at] + steps[at] * np.arange(1, counts[at]) / counts[at] for at in lost]
        times = np.sort(np.concatenate([times, *parts]))
        times = times[np.append(True, np.diff(times) > 0.1 * log.period)]
    command = np.stack([np.interp(times, log.command_times, each) for each in log.command.T], axis=1)
    ends = [0, *(np.flatnonzero(counts > LOST + 1) + 1), len(log.times)]
    if len(ends) > 2:
        notes.append(f"{len(ends) - 2} gaps without samples divide it, the first at {log.times[ends[1] - 1]:g} s")
    if len(ends) == 2:
        yield attrs.evolve(log, command_times=times, command=command, notes=tuple(notes))
        return
    for first, end in pairwise(ends):
        if end - first < _SHORTEST_PIECE:
            continue
        kept = times <= log.times[end - 1] + 1e-9
        kept &= np.arange(len(times)) >= np.searchsorted(times, log.times[first] + 1e-9) - 1
        yield attrs.evolve(
            log,
            name=f"{log.name}, from {log.times[first]:g} s",
            times=log.times[first:end],
            command_times=times[kept],
            command=command[kept],
            signals={kind: array[first:end] for kind, array in log.signals.items()},
            notes=tuple(notes),
        )


def _scales(name: str, own: Sequence[str], joints: Sequence[RobotJoint], config: FitConfig) -> np.ndarray:
    _refuse_unknown("fit.signs", name, config.signs, own)
    pairs = [(joint, config.signs.get(joint, 1), of.is_turning) for joint, of in zip(own, joints, strict=True)]
    if not isinstance(config.units, Mapping):
        unit = _UNITS[config.units] if isinstance(config.units, str) else config.units
        return np.array([sign * (unit if is_turning else 1.0) for _, sign, is_turning in pairs])
    turning = [joint for joint, _, is_turning in pairs if is_turning]
    _refuse_unknown("fit.units", name, config.units, turning)
    if missing := [joint for joint in turning if joint not in config.units]:
        raise ConfigError(f"fit.units: there is no unit of {missing[0]!r} of {name}; give each joint that turns one")
    return np.array([sign * config.units.get(joint, 1.0) for joint, sign, _ in pairs])


def _refuse_unknown(where: str, name: str, given: Iterable[str], known: Sequence[str]) -> None:
    if unknown := sorted(set(given) - set(known)):
        near = did_you_mean(unknown[0], known) or f"; joints: {', '.join(known)}"
        raise ConfigError(f"{where}: {name} has no joint {unknown[0]!r}{near}")


def _label(name: str, joint: str, known: Mapping[str, RobotJoint]) -> str:
    """Return the label that a log's name of a joint means: the same, or the only one that ends with it."""
    found = [joint] if joint in known else [label for label in known if label.rpartition("/")[2] == joint]
    if len(found) != 1:
        near = did_you_mean(joint, known) or f"; joints: {', '.join(known)}"
        many = "several joints" if found else "no joint"
        raise ConfigError(f"fit.logs: {name}: {joint!r} means {many} of the simulation{near}; name it in [fit.joints]")
    return found[0]


def slopes(log: Log) -> np.ndarray:
    """Return the slopes of straight lines through the nearest positions, shape [samples, joints]."""
    reach = np.arange(-_NEAREST, _NEAREST + 1)
    near = np.clip(np.arange(len(log.times))[:, None] + reach, 0, len(log.times) - 1)
    times, positions = log.times[near], log.signals["position"][near]
    times = times - times.mean(axis=1, keepdims=True)
    return (times[..., None] * positions).sum(axis=1) / (times**2).sum(axis=1)[:, None]


def velocities_of(log: Log) -> np.ndarray:
    """Return the velocities of a log, shape [samples, joints]: as measured, or the slopes of the positions."""
    return log.signals["velocity"] if "velocity" in log.signals else slopes(log)


_SHORTEST = 0.5
"""Shortest piece at the end of a log that is a window of its own, as a share of a window."""


@attrs.frozen(kw_only=True, eq=False)
class Window:
    """A window: it starts from the measured state, and the samples after it count."""

    log: int
    """Index of the log."""

    first: int
    """Index of the sample that it starts with."""

    samples: np.ndarray
    """Indices of the samples that count."""


def divide(logs: Sequence[Log], config: FitConfig, dt: float) -> tuple[tuple[list[Window], list[Window]], int]:
    """Return the windows of logs that are fitted, and those that judge the fit, which does not see them; and the number
    of control steps of the longest one. There must be a window to fit.
    """
    fitted, judging, longest = list[Window](), list[Window](), 0
    for number, log in enumerate(logs):
        length = log.duration if isinstance(config.window, str) else config.window
        own: list[Window] = []
        start = 0
        while start < len(log.times) - 1:
            end = log.times[start] + length
            after = int(np.searchsorted(log.times, end, side="right"))
            inside = np.arange(start + 1, min(after, len(log.times)))
            kept = inside[log.times[inside] >= log.times[start] + config.burn_in]
            is_short = log.times[-1] - log.times[start] < _SHORTEST * length
            if len(kept) and not (is_short and own):
                own.append(Window(log=number, first=start, samples=kept))
                longest = max(longest, int(np.ceil((log.times[kept[-1]] - log.times[start]) / dt - 1e-6)))
            start = max(after - 1, start + 1)
        share = 0.0 if isinstance(config.validation, tuple) else config.validation
        count = 0 if log.is_unseen else len(own) - round(share * len(own))
        fitted += own[:count]
        judging += own[count:]
    if not fitted:
        raise ConfigError("fit.validation: no window is left to fit; shorten 'window', lower 'validation', or log more")
    return (fitted, judging), longest
