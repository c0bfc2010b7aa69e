"""Settings of the readers of logs that Pippin brings."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs.validators import deep_iterable, ge, min_len, optional


@attrs.frozen(kw_only=True)
class _ColumnsConfig:
    """Columns of a table with a row for each sample: one for the time, and one for each joint and signal."""

    time: str = attrs.field(default="time", validator=min_len(1))
    """Name of the column of times [s]."""

    position: str = attrs.field(default="position.", validator=min_len(1))
    """First part of the names of the columns of measured positions; the name of the joint follows."""

    velocity: str = attrs.field(default="velocity.", validator=min_len(1))
    """The same of measured velocities."""

    command: str = attrs.field(default="command.", validator=min_len(1))
    """The same of commands."""


class CsvConfig(_ColumnsConfig):
    """A text file with a line of names and numbers between commas."""

    implementation = ".arrays:CsvReader"


class ParquetConfig(_ColumnsConfig):
    """A Parquet file with a column for each joint and signal."""

    implementation = ".arrays:ParquetReader"
    extra = "parquet"


@attrs.frozen(kw_only=True)
class _ArraysConfig:
    """Arrays by name: times [samples], signals [samples, joints], and the names of the joints."""

    time: str = attrs.field(default="time", validator=min_len(1))
    """Name of the array of times [s]."""

    position: str = attrs.field(default="position", validator=min_len(1))
    """Name of the array of measured positions."""

    velocity: str = attrs.field(default="velocity", validator=min_len(1))
    """Name of the array of measured velocities, which a log may lack."""

    command: str = attrs.field(default="command", validator=min_len(1))
    """Name of the array of commands."""

    joints: str | tuple[str, ...] = attrs.field(default="joints", validator=min_len(1))
    """Name of the array of the joints' names, or the names themselves in the order of the columns."""


class NpzLogConfig(_ArraysConfig):
    """An archive of NumPy."""

    implementation = ".arrays:NpzReader"


class Hdf5LogConfig(_ArraysConfig):
    """An HDF5 file; names of arrays may have folders, such as `robot/state/q`."""

    implementation = ".arrays:Hdf5Reader"
    extra = "hdf5"


@attrs.frozen(kw_only=True)
class RecordingLogConfig:
    """A recording of Pippin, in any of its formats: each recorded world is a log."""

    implementation = ".arrays:RecordingReader"


@attrs.frozen(kw_only=True)
class McapLogConfig:
    """Messages in an MCAP file: measurements are `sensor_msgs/JointState` of ROS 2 or `foxglove.JointStates`, and
    commands one of these, `trajectory_msgs/JointTrajectory` or `std_msgs/Float64MultiArray`.
    """

    implementation = ".mcap:McapReader"
    extra = "mcap"

    measured: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Topic of the measurements; by default the only one with states of joints."""

    commanded: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Topic of the commands; by default the only one with trajectories or plain numbers."""

    joints: tuple[str, ...] = ()
    """Names of the joints of plain numbers, in their order; by default as in the measurements."""

    stamps: Literal["header", "receive"] = "header"
    """Whose clock counts: the stamp in the header of a message, or the time at which it was written to the file."""


@attrs.frozen(kw_only=True)
class LeRobotConfig:
    """A folder with a dataset of LeRobot, format v3: each episode is a log."""

    implementation = ".lerobot:LeRobotReader"
    extra = "parquet"

    measured: str = attrs.field(default="observation.state", validator=min_len(1))
    """Name of the feature with measured positions."""

    commanded: str = attrs.field(default="action", validator=min_len(1))
    """Name of the feature with commands."""

    episodes: tuple[int, ...] | None = attrs.field(default=None, validator=optional([min_len(1), deep_iterable(ge(0))]))
    """Indices of the episodes that are read; by default all."""
