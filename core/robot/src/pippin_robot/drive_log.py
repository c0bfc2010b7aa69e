"""The recording of a drive: the channels of a run, and what only a robot has."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pippin.catalog import Catalog
from pippin.recording import Column, Header

from .contract import RobotReadings

_ROWS, _FLUSH = 4096, 1.0
"""Rows of the buffer, and time after which it is written [s]."""

MEASURED = {"effort": "N·m", "current": "A", "voltage": "V", "temperature": "°C"}
"""What motors may tell, with its unit: the channel `robot/NAME`."""

OF_LOOP = {"late": "s", "round_trip": "s", "turnaround": "s", "wall_time": "s"}
"""What the loop measures of itself, likewise: how late the period began, the time of reading and writing, and the time
from the state to the targets that answer it, which the next row has."""

FAULTS = ("silence", "port", "target", "late", "position", "heat", "voltage", "tilt", "overload", "policy", "stop")
"""Faults by their number in the channel `robot/fault`, from 1 on; others are 0xff."""


class DriveLog:
    """Writes a row for each period.

    Args:
        path: The file, `.npz`.
        header: Everything about the recording besides its rows, as `header_of` returns it.
    """

    def __init__(self, path: Path, header: Header) -> None:
        plugin: Any = Catalog.installed().find("recorder", "npz")
        self._recorder = plugin.load()(plugin.load_config()())
        self._recorder.path, self.path = path, path
        self._recorder.open(path, header)
        self._rows = np.zeros(_ROWS, dtype=header.row_type)
        self._count, self._flushed = 0, time.monotonic()

    def add(self, values: Mapping[str, Any]) -> None:
        """Add a row: the value of each channel by name, without its axis of worlds."""
        row = self._rows[self._count]
        for name, value in values.items():
            row[name] = value
        self._count += 1
        if self._count == _ROWS or time.monotonic() - self._flushed > _FLUSH:
            self.flush()

    def flush(self) -> None:
        """Write what is in the buffer."""
        if self._count:
            self._recorder.write(self._rows[: self._count])
        self._count, self._flushed = 0, time.monotonic()

    def close(self) -> None:
        """Complete the file."""
        self.flush()
        self._recorder.finish()


def header_of(
    config: str,
    rate: float,
    labels: Sequence[str],
    units: Sequence[str],
    groups: Mapping[str, Sequence[str]],
    versions: dict[str, str],
    *,
    has_unit: bool,
    is_shadowed: bool,
) -> Header:
    """Return the header of a recording of a robot.

    Args:
        config: The configuration, as TOML.
        rate: Frequency of the rows [Hz].
        labels: Labels of the joints in the model.
        units: Units of their positions.
        groups: Labels of the joints of each group of actuators.
        versions: Versions of Pippin, Newton and Warp.
        has_unit: Whether the robot has an inertial unit.
        is_shadowed: Whether a simulation ran beside the robot.
    """
    single, speeds = np.dtype("<f4"), tuple(f"{unit}/s" for unit in units)
    unit_of = dict(zip(labels, units, strict=True))
    of_joints: Any = {"shape": (1, len(labels)), "dtype": single, "labels": tuple(labels)}
    columns = [
        Column(name="joint_q", units=tuple(units), **of_joints),
        Column(name="joint_qd", units=speeds, **of_joints),
    ]
    for label, own in groups.items():
        columns.append(
            Column(
                name=f"actuators/{label}/position_targets",
                shape=(1, len(own)),
                dtype=single,
                labels=tuple(own),
                units=tuple(unit_of[each] for each in own),
            )
        )
    columns += [Column(name=f"robot/{name}", units=(unit,), **of_joints) for name, unit in MEASURED.items()]
    byte: Any = {"dtype": np.dtype("u1"), "units": ("1",)}
    columns.append(Column(name="robot/limited", shape=(1, len(labels)), labels=tuple(labels), **byte))
    columns.append(Column(name="robot/fault", shape=(1,), **byte))
    for name, unit in OF_LOOP.items():
        columns.append(Column(name=f"robot/{name}", shape=(1,), dtype=np.dtype("<f8"), units=(unit,)))
    if has_unit:
        columns.append(Column(name="robot/orientation", shape=(1, 4), dtype=single, frame="world"))
        columns.append(Column(name="robot/angular_velocity", shape=(1, 3), dtype=single, units=("rad/s",)))
    if is_shadowed:
        columns.append(Column(name="shadow/position", units=tuple(units), **of_joints))
    return Header(
        label="robot",
        worlds=(0,),
        control_dt=1.0 / rate,
        period=1.0 / rate,
        start_step=0,
        columns=tuple(columns),
        config=config,
        versions=versions,
    )


def measured(readings: RobotReadings) -> dict[str, Any]:
    """Return the channels of what a robot measured."""
    found = {"joint_q": readings.position, "joint_qd": readings.velocity}
    found |= {f"robot/{name}": getattr(readings, name) for name in MEASURED}
    if not np.isnan(readings.orientation[0]):
        found |= {"robot/orientation": readings.orientation, "robot/angular_velocity": readings.angular_velocity}
    return found
