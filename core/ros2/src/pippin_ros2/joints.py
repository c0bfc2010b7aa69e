"""Joints by their names in messages, and what messages command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pippin import ConfigError, did_you_mean
from pippin_robot import RobotCommands

from . import RosConfig


class JointNames:
    """Names, directions and zeros of joints in messages."""

    def __init__(self, config: RosConfig) -> None:
        #: Names in the robot's order.
        self.names: list[str] = [each.name or name for name, each in config.joints.items()]
        self._rows = {name: row for row, name in enumerate(self.names)}
        if len(self._rows) < len(self.names):
            names = ", ".join(self.names)
            raise ConfigError(f"robot.joints: two have one name in messages: {names}; give each a name of its own")
        self._sign = np.array([float(each.sign) for each in config.joints.values()])
        self._zero = np.array([each.zero for each in config.joints.values()])

    def rows(self, names: Sequence[str]) -> list[int]:
        """Return the places of joints in the robot's order.

        Raises:
            ValueError: There are none, or one is unknown or there twice.
        """
        if not names:
            raise ValueError("it names no joints; name those that it commands")
        for name in names:
            if name not in self._rows:
                known = ", ".join(self.names)
                raise ValueError(f"no joint is called {name!r}{did_you_mean(name, self.names)}; there are: {known}")
        if len(set(names)) < len(names):
            raise ValueError(f"it names a joint twice: {', '.join(names)}")
        return [self._rows[name] for name in names]

    def finds_all(self, names: Sequence[str]) -> list[int] | None:
        """Return the place of each joint in the names of a message; None if one is missing."""
        places = {name: place for place, name in enumerate(names)}
        return [places[name] for name in self.names] if self._rows.keys() <= places.keys() else None

    def told(self, position: np.ndarray) -> np.ndarray:
        """Return positions as messages have them."""
        return self._zero + self._sign * position

    def turned(self, values: np.ndarray) -> np.ndarray:
        """Return velocities or efforts as messages have them, or the other way round."""
        return self._sign * values

    def own(self, field: str, values: np.ndarray, rows: Sequence[int]) -> np.ndarray:
        """Return numbers of a message in the directions of the file, where `field` is position, velocity or effort."""
        if len(values) != len(rows):
            raise ValueError(f"it has {len(values)} numbers for {field}, and {len(rows)} joints; give one for each")
        if np.isinf(values).any():
            raise ValueError(f"a number for {field} is infinite; give NaN for what shall stay")
        return self._sign[rows] * (values - self._zero[rows] if field == "position" else values)


class TopicTargets:
    """Targets that messages told last. A message that is refused is a `ValueError`, and changes nothing."""

    def __init__(self, names: JointNames, commands_are: str) -> None:
        self.names, self._commands_are = names, commands_are
        #: The commands; NaN where nobody told anything.
        self.commands: RobotCommands = RobotCommands(len(names.names))
        self._way: tuple[Sequence[int], np.ndarray, np.ndarray] | None = None

    def follow_state(self, told: Mapping[str, Any], now: float, position: np.ndarray) -> None:
        """Follow a `JointState` at a time on the clock of stamps [s], with the joints at positions [rad or m]."""
        rows = self.names.rows(told["name"])
        fields = [field for field in ("position", "velocity", "effort") if len(told[field])]
        if not fields:
            raise ValueError("it has no positions, velocities or efforts")
        self._set({field: self.names.own(field, told[field], rows) for field in fields}, rows)

    def follow_numbers(self, told: Mapping[str, Any], now: float, position: np.ndarray) -> None:
        """Follow a `Float64MultiArray` for all joints."""
        rows, field = range(len(self.names.names)), self._commands_are
        self._set({field: self.names.own(field, told["data"], rows)}, rows)

    def _set(self, found: Mapping[str, np.ndarray], rows: Sequence[int]) -> None:
        for field, values in found.items():
            given = ~np.isnan(values)
            getattr(self.commands, field)[np.array(rows)[given]] = values[given]
        self._way = None

    def follow_trajectory(self, told: Mapping[str, Any], now: float, position: np.ndarray) -> None:
        """Follow a `JointTrajectory`; without a stamp, it begins now."""
        rows = self.names.rows(told["joint_names"])
        start = _seconds(told["header"]["stamp"]) or now
        times = [_seconds(point["time_from_start"]) for point in told["points"]]
        ways = [self.names.own("position", point["positions"], rows) for point in told["points"]]
        if np.isnan(ways).any():
            raise ValueError("a position is no number")
        if np.any(np.diff(times) <= 0.0):
            raise ValueError(f"its points do not follow each other in time: {times} s")
        if ways and times[0] > 0.0:
            times, ways = [0.0, *times], [position[rows], *ways]
        self._way = (rows, start + np.array(times), np.array(ways)) if ways else None

    def at(self, now: float) -> RobotCommands:
        """Return the commands at a time [s] on the clock of stamps."""
        if self._way is not None:
            rows, times, table = self._way
            self.commands.position[rows] = [np.interp(now, times, column) for column in table.T]
        return self.commands


def _seconds(time: Mapping[str, int]) -> float:
    return time["sec"] + 1e-9 * time["nanosec"]
