"""Logs of a robot: commands and measurements over time."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
from pippin.array_files import read_arrays
from pippin.config.fit import FitConfig
from pippin.errors import ConfigError, PluginError
from pippin.recording.reading import Recording
from pippin.spelling import did_you_mean

SIGNALS = {"position": "joint_q", "velocity": "joint_qd"}
"""The signals of a log, and the channels of recordings that hold them."""

_FORM = (
    "a log has times [s] and, for each joint, positions and commands: columns 'time', 'position.NAME', 'command.NAME'"
    " and perhaps 'velocity.NAME' of a CSV file; or arrays 'time', 'position', 'command', 'joints' and perhaps"
    " 'velocity' of an npz file"
)


@attrs.frozen(kw_only=True, eq=False)
class Log:
    """A log: what the robot was told, and what it measured, at the same times."""

    name: str
    """The file, and the world if it has several."""

    times: np.ndarray
    """Times [s], shape [samples]."""

    joints: tuple[str, ...]
    """Labels of the joints, as in the simulation."""

    command: np.ndarray
    """Commands [rad or m, per second, or N and N·m], shape [samples, joints]."""

    signals: Mapping[str, np.ndarray]
    """Measured `position` [rad or m] and perhaps `velocity`, shape [samples, joints] each."""

    @property
    def period(self) -> float:
        """Median time from a sample to the next [s]."""
        return float(np.median(np.diff(self.times)))

    @property
    def duration(self) -> float:
        """Time from the first sample to the last one [s]."""
        return float(self.times[-1] - self.times[0])


def read_logs(files: Sequence[str | Path], config: FitConfig, known: Sequence[str]) -> tuple[Log, ...]:
    """Return the logs of files, each of their recorded worlds as one.

    Args:
        files: The files, or patterns of them.
        config: The table `[fit]`.
        known: Labels of the joints of the simulation.

    Raises:
        ConfigError: A pattern matches no file, or a file is no log, or names joints that do not exist.
        PluginError: The library of a recording is not installed.
    """
    found = []
    for file in files:
        pattern = Path(file)
        paths = [pattern] if pattern.is_file() else sorted(Path(pattern.anchor).glob(str(_relative(pattern))))
        if not paths:
            raise ConfigError(f"fit.logs: {str(file)!r} matches no file; name a log, .npz, .csv or a recording")
        for path in paths:
            found += _logs_of(path, config, known)
    return tuple(found)


def _relative(pattern: Path) -> Path:
    return pattern.relative_to(pattern.anchor) if pattern.anchor else pattern


def _logs_of(path: Path, config: FitConfig, known: Sequence[str]) -> Iterator[Log]:
    try:
        if path.suffix == ".csv":
            yield _log(str(path), _of_csv(path), config, known)
        elif path.suffix == ".npz" and "command" in (arrays := read_arrays(path)):
            yield _log(str(path), arrays, config, known)
        else:
            with Recording(path) as recording:
                for column, world in enumerate(recording.worlds):
                    arrays = _of_recording(recording, column, config)
                    yield _log(f"{path}, world {world}", arrays, config, known)
    except (ConfigError, PluginError):
        raise
    except (OSError, ValueError, LookupError) as error:
        raise ConfigError(f"fit.logs: '{path}' is no log ({error}); {_FORM}") from error


def _of_csv(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a CSV file with a line of names."""
    with path.open(encoding="utf-8", newline="") as stream:
        names = [name.strip() for name in next(csv.reader(stream), [])]
        rows = np.loadtxt(stream, delimiter=",", ndmin=2)
    if rows.size and rows.shape[1] != len(names):
        raise ValueError(f"it has {len(names)} names and {rows.shape[1]} columns")
    joints = [name.partition(".")[2] for name in names if name.startswith("position.")]
    arrays = {"time": rows[:, names.index("time")], "joints": np.array(joints)}
    for kind in ("position", "velocity", "command"):
        columns = [f"{kind}.{joint}" for joint in joints]
        if kind != "velocity" or any(column in names for column in columns):
            arrays[kind] = rows[:, [names.index(column) for column in columns]]
    return arrays


def _of_recording(recording: Recording, column: int, config: FitConfig) -> dict[str, np.ndarray]:
    """Return the arrays of a world of a recording: the targets of all its actuators are the commands."""
    channels = [name for name in recording if name.startswith("actuators/") and name.endswith(f"/{config.command}")]
    commands = {
        label: recording[name].values[:, column, number]
        for name in channels
        for number, label in enumerate(recording[name].labels)
    }
    if not commands or "joint_q" not in recording:
        raise ConfigError(
            f"fit.logs: '{recording.path}' needs the channels 'joint_q' and 'actuators/LABEL/{config.command}'; record"
            " them"
        )
    if recording.header.period > 1.5 * recording.header.control_dt:
        raise ConfigError(
            f"fit.logs: '{recording.path}' has a row each {recording.header.period:g} s, and commands came each"
            f" {recording.header.control_dt:g} s; record without 'period'"
        )
    # A row has the commands that led to its state: those that follow are in the next one.
    arrays = {"joints": np.array(list(commands)), "command": np.stack([*commands.values()], axis=1)[1:]}
    arrays["time"] = recording.time[:-1]
    for kind, name in SIGNALS.items():
        if name in recording:
            labels = recording[name].labels
            columns = [labels.index(label) for label in commands]
            arrays[kind] = recording[name].values[:-1, column, columns]
    return arrays


def _log(name: str, arrays: Mapping[str, np.ndarray], config: FitConfig, known: Sequence[str]) -> Log:
    """Return a log of arrays whose names and shapes are right."""
    times = np.asarray(arrays["time"], dtype=float)
    joints = tuple(config.joints.get(str(joint), str(joint)) for joint in arrays["joints"])
    labels = [_label(name, joint, known) for joint in joints]
    numbers = {kind: np.asarray(arrays[kind], dtype=float) for kind in ("position", "command")}
    if "velocity" in arrays:
        numbers["velocity"] = np.asarray(arrays["velocity"], dtype=float)
    for kind, array in numbers.items():
        if array.shape != (len(times), len(joints)):
            raise ValueError(f"{kind!r} has shape {array.shape}, not {(len(times), len(joints))}")
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            raise ConfigError(f"fit.logs: {name}: {kind!r} is not finite at {times[row]:g} s; leave that part out")
    if len(set(labels)) < len(labels):
        raise ConfigError(f"fit.logs: {name}: two joints mean the same one; give 'fit.joints' their labels")
    command = numbers.pop("command")
    return Log(name=name, times=times, joints=tuple(labels), command=command, signals=numbers)


def _label(name: str, joint: str, known: Sequence[str]) -> str:
    """Return the label that a log's name of a joint means: the same, or the only one that ends with it."""
    found = [joint] if joint in known else [label for label in known if label.rpartition("/")[2] == joint]
    if len(found) != 1:
        near = did_you_mean(joint, known) or f"; joints: {', '.join(known)}"
        many = "several joints" if found else "no joint"
        raise ConfigError(f"fit.logs: {name}: {joint!r} means {many} of the simulation{near}; name it in [fit.joints]")
    return found[0]
