"""Logs of arrays by name: text with commas, Parquet and HDF5 files, archives of NumPy, and recordings of Pippin."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pippin import ConfigError
from pippin.array_files import read_arrays
from pippin.extras import import_library
from pippin.files import refuse_expansion
from pippin.recording import Recording

from .configs import CsvConfig, Hdf5LogConfig, NpzLogConfig, ParquetConfig

_COLUMNS = "the columns 'time', 'position.NAME', 'command.NAME' and perhaps 'velocity.NAME'"
_ARRAYS = "the arrays 'time', 'position', 'command', 'joints' and perhaps 'velocity'"
_SIGNALS = ("position", "velocity", "command")
_CHANNELS = {"position": "joint_q", "velocity": "joint_qd"}


class _Reader:
    def __init__(self, config: Any) -> None:
        self._config = config


class CsvReader(_Reader):
    """Reads a text file with a line of names and numbers between commas."""

    form = f"a CSV file has {_COLUMNS}"

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of the file."""
        with path.open(encoding="utf-8", newline="") as stream:
            names = [name.strip() for name in next(csv.reader(stream), [])]
            rows = np.loadtxt(stream, delimiter=",", ndmin=2)
        if rows.size and rows.shape[1] != len(names):
            raise ValueError(f"it has {len(names)} names and {rows.shape[1]} columns")
        yield _by_joint(dict(zip(names, rows.T, strict=True)), self._config)


class ParquetReader(_Reader):
    """Reads a Parquet file."""

    form = f"a Parquet file has {_COLUMNS}"

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of the file."""
        table, own = read_table(path), self._config
        signals = (own.position, own.velocity, own.command)
        names = [name for name in table.column_names if name == own.time or name.startswith(signals)]
        yield _by_joint({name: np.asarray(table.column(name), dtype=float) for name in names}, own)


def read_table(path: Path, names: list[str] | None = None) -> Any:
    """Return the table of a Parquet file, or some columns; refuse one that takes half of the memory when unpacked."""
    file = import_library("pyarrow.parquet", "parquet").ParquetFile(path)
    groups = (file.metadata.row_group(index) for index in range(file.metadata.num_row_groups))
    chunks = (group.column(index) for group in groups for index in range(group.num_columns))
    refuse_expansion(8 * sum(chunk.num_values for chunk in chunks))
    return file.read(columns=names)


def _by_joint(columns: Mapping[str, np.ndarray], config: CsvConfig | ParquetConfig) -> dict[str, Any]:
    joints = [name.removeprefix(config.position) for name in columns if name.startswith(config.position)]
    if not joints:
        raise ValueError(f"no column begins with {config.position!r}")
    found: dict[str, Any] = {"joints": joints, "time": _taken(columns, config.time)}
    for kind in _SIGNALS:
        own = [getattr(config, kind) + joint for joint in joints]
        if kind != "velocity" or any(name in columns for name in own):
            found[kind] = np.stack([_taken(columns, name) for name in own], axis=1)
    return found


class NpzReader(_Reader):
    """Reads an archive of NumPy."""

    form = f"an npz file has {_ARRAYS}"

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of the file."""
        yield _named(read_arrays(path), self._config)


class Hdf5Reader(_Reader):
    """Reads an HDF5 file."""

    form = f"an HDF5 file has {_ARRAYS}"

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of the file."""
        with import_library("h5py", "hdf5").File(path) as file:
            names = (self._config.time, *(getattr(self._config, kind) for kind in _SIGNALS))
            refuse_expansion(sum(getattr(file[each], "nbytes", 0) for each in names if each in file))
            yield _named(file, self._config)


def _taken(arrays: Mapping[str, Any], name: str) -> Any:
    if name not in arrays:
        raise ValueError(f"there is no {name!r}")
    return arrays[name]


def _named(arrays: Mapping[str, Any], config: NpzLogConfig | Hdf5LogConfig) -> dict[str, Any]:
    names = config.joints
    if isinstance(names, str):
        texts = np.atleast_1d(_taken(arrays, names)[()])
        names = tuple(each.decode() if isinstance(each, bytes) else str(each) for each in texts)
    found = {"joints": names, "time": np.asarray(_taken(arrays, config.time)[()])}
    for kind in _SIGNALS:
        name = getattr(config, kind)
        if kind != "velocity" or name in arrays:
            found[kind] = np.asarray(_taken(arrays, name)[()])
    return found


class RecordingReader(_Reader):
    """Reads each world of a recording; the targets of all its actuators are the commands."""

    form = "a recording has the channels 'joint_q' and 'actuators/LABEL/position_targets', and perhaps 'joint_qd'"

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of each world."""
        with Recording(path) as recording:
            for column, world in enumerate(recording.worlds):
                yield {"name": f"world {world}", **_of_world(recording, column, targets)}


def _of_world(recording: Recording, column: int, targets: str) -> dict[str, Any]:
    commands = {
        label: recording[name].values[:, column, number]
        for name in recording
        if name.startswith("actuators/") and name.endswith(f"/{targets}")
        for number, label in enumerate(recording[name].labels)
    }
    if not commands or "joint_q" not in recording:
        raise ConfigError(
            f"fit.logs: '{recording.path}' needs the channels 'joint_q' and 'actuators/LABEL/{targets}'; record them"
        )
    if recording.header.period > 1.5 * recording.header.control_dt:
        raise ConfigError(
            f"fit.logs: '{recording.path}' has a row each {recording.header.period:g} s, and commands came each"
            f" {recording.header.control_dt:g} s; record without 'period'"
        )
    # A row has the commands that led to its state: later ones are in the next one.
    found: dict[str, Any] = {"joints": list(commands), "command": np.stack([*commands.values()], axis=1)[1:]}
    found["time"] = recording.time[:-1]
    for kind, name in _CHANNELS.items():
        if name in recording:
            labels = recording[name].labels
            columns = [labels.index(label) for label in commands]
            found[kind] = recording[name].values[:-1, column, columns]
    return found
