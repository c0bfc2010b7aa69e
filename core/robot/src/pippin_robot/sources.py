"""Sources of targets: a table, a policy, or another robot that somebody moves."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError
from pippin.extras import import_library

from .contract import DrivenJoint, RobotDriver, RobotFault, RobotReadings


@attrs.frozen(kw_only=True)
class DriveSource:
    """Choice of what moves a robot: one of these, or the motions of the file."""

    policy: Path | None = None
    """An ONNX file with a passport."""
    commands: Mapping[str, Sequence[float]] = attrs.field(factory=dict)
    """Commands of the policy, by label."""
    replay: Path | None = None
    """A recording of Pippin, whose targets are sent again."""
    leader: Path | None = None
    """The file of a robot that somebody moves by hand."""
    teleoperate: bool = False
    """Whether the sliders of a page move it."""
    moves: np.ndarray | None = None
    """Ways from the start of the file in each period, shape [periods, joints]."""

    @property
    def is_empty(self) -> bool:
        """Whether it has none of them."""
        return not self._given()

    def _given(self) -> list[str]:
        names = ("policy", "replay", "leader", "teleoperate", "moves")
        return [name for name in names if (value := getattr(self, name)) is not None and value is not False]

    def __attrs_post_init__(self) -> None:
        given = self._given()
        if len(given) > 1:
            raise ConfigError(f"--{given[0]}: given beside --{given[1]}; keep one of them")
        if self.moves is not None and not np.isfinite(self.moves).all():
            raise ConfigError("moves: expected finite numbers")
        if self.commands and self.policy is None:
            raise ConfigError("--command: only a policy takes commands; name one by --policy")


class TargetSource(abc.ABC):
    """Gives the targets of each period, in the order of the joints."""

    #: Number of periods after which it has no more targets; None if it always has.
    length: int | None = None

    @abc.abstractmethod
    def first(self, readings: RobotReadings) -> np.ndarray:
        """Return the targets at which the soft start ends, shape [joints]."""

    @abc.abstractmethod
    def targets(self, readings: RobotReadings, period: int) -> np.ndarray:
        """Return the targets of a period, which may be no numbers, shape [joints].

        Raises:
            RobotFault: There are none.
        """

    def close(self) -> None:
        """Let go of what it has."""
        return


class TableSource(TargetSource):
    """Targets that are known before.

    Args:
        table: The targets of each period, shape [periods, joints].
    """

    def __init__(self, table: np.ndarray) -> None:
        self._table, self.length = table, len(table)

    def first(self, readings: RobotReadings) -> np.ndarray:
        """Return the first row."""
        return self._table[0]

    def targets(self, readings: RobotReadings, period: int) -> np.ndarray:
        """Return the row of the period, the last one after the end."""
        return self._table[min(period, len(self._table) - 1)]


class HoldSource(TargetSource):
    """The positions at which the robot was found."""

    def first(self, readings: RobotReadings) -> np.ndarray:
        """Return the measured positions, which stay the targets."""
        self._held = readings.position.copy()
        return self._held

    def targets(self, readings: RobotReadings, period: int) -> np.ndarray:
        """Return the same."""
        return self._held


class PolicySource(TargetSource):
    """A policy with its passport, by the runner that `pippin deploy` copies.

    Args:
        policy: The ONNX file.
        joints: The robot's joints.
        rate: Frequency of the loop [Hz].
        gains: Gains of the file's actuators, by the name of the parameter and the joint.
        commands: Commands of the task, by label.

    Raises:
        ConfigError: The policy has no passport, or is not for this robot or these commands.
        PluginError: The extra `runner` is not installed.
    """

    def __init__(
        self,
        policy: Path,
        joints: Sequence[DrivenJoint],
        rate: float,
        gains: Mapping[str, Mapping[str, float]],
        commands: Mapping[str, Sequence[float]],
    ) -> None:
        import_library("onnxruntime", "runner")
        from pippin_deploy import RobotError, Runner

        self._error, names = RobotError, [joint.name for joint in joints]
        try:
            self._runner = Runner(policy, joints=names, rate=rate, gains=gains)
        except RobotError as error:
            raise ConfigError(f"--policy: '{policy}': {error}") from error
        for each in self._runner.passport["actions"]:
            if (told := (each["recipe"] or {}).get("target")) != "position_targets":
                raise ConfigError(f"--policy: its action {each['label']!r} gives {told}; only positions can be driven")
        wanted = self._runner.passport["commands"]
        self._commands = {label: np.asarray(value, dtype=np.float32) for label, value in commands.items()}
        for label in wanted.keys() ^ self._commands.keys():
            raise ConfigError(f"--command: {label!r} is missing or unknown; the policy takes: {_told(wanted)}")
        for label, value in self._commands.items():
            if value.shape != (len(wanted[label]["labels"]),) or not np.isfinite(value).all():
                raise ConfigError(
                    f"--command: {label}={value.tolist()} does not fit; the policy takes: {_told(wanted)}"
                )
        self._places = {
            label: np.array([names.index(each.rpartition("/")[2]) for each in own])
            for label, own in self._runner.driven.items()
        }
        driven = sorted(place for own in self._places.values() for place in own.tolist())
        if driven != list(range(len(names))):
            missing = [name for place, name in enumerate(names) if place not in driven]
            raise ConfigError(f"--policy: it does not drive {', '.join(missing)}, which [robot.joints] has")

    def first(self, readings: RobotReadings) -> np.ndarray:
        """Return the positions in which the policy's episodes began."""
        by_name = {each["name"].rpartition("/")[2]: each["start"] for each in self._runner.passport["joints"]}
        return np.array([by_name[name] for name in self._runner.joints])

    def targets(self, readings: RobotReadings, period: int) -> np.ndarray:
        """Return what the policy does with the readings; its first period begins an episode."""
        if period == 0:
            self._runner.reset()
        measured: dict[str, Any] = {
            "positions": readings.position,
            "velocities": readings.velocity,
            "commands": self._commands,
        }
        if not np.isnan(readings.orientation).any():
            measured |= {"orientation": readings.orientation, "angular_velocity": readings.angular_velocity}
        try:
            told = self._runner.step(measured)
        except self._error as error:
            raise RobotFault(f"the policy refuses the readings: {error}", "policy") from error
        found = np.full(len(self._runner.joints), np.nan)
        for label, places in self._places.items():
            found[places] = told[label]
        return found


def _told(wanted: Mapping[str, Any]) -> str:
    return "; ".join(f"{name}={','.join(each['labels'])}" for name, each in wanted.items()) or "none"


class LeaderSource(TargetSource):
    """Another robot that somebody moves by hand; its joints have the same names.

    Args:
        driver: The connection to it.
        names: Names of its joints.
        joints: The joints that follow.
    """

    def __init__(self, driver: RobotDriver, names: Sequence[str], joints: Sequence[DrivenJoint]) -> None:
        self._driver, self._readings = driver, RobotReadings(len(names))
        for joint in joints:
            if joint.name not in names:
                raise ConfigError(f"--leader: its robot has no {joint.name!r}; it has: {', '.join(names)}")
        self._places = np.array([list(names).index(joint.name) for joint in joints])

    def first(self, readings: RobotReadings) -> np.ndarray:
        """Return where the leader is."""
        self._driver.read(self._readings)
        return self._readings.position[self._places]

    def targets(self, readings: RobotReadings, period: int) -> np.ndarray:
        """Return where the leader is, and no numbers while it is silent, for as long as the watchdog permits."""
        try:
            return self.first(readings)
        except RobotFault as fault:
            if fault.kind != "silence":
                raise
            return np.full(len(self._places), np.nan)

    def close(self) -> None:
        """Let go of the leader."""
        self._driver.close()
