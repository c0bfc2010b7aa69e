"""A simulation as the body of a robot of LeRobot: it steps with the clock or with actions, in LeRobot's numbers."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pippin import ConfigError, Simulation, load
from pippin_robot import (
    ACTING,
    RANGES,
    DrivenJoint,
    Emulator,
    RobotCommands,
    RobotConfig,
    RobotJointConfig,
    RobotPlugin,
    RobotReadings,
    RobotServer,
    driven_names,
)

from .env import images_of
from .overrides import parse_overrides

UNITS = ("degrees", "radians", *RANGES)
"""LeRobot's words for its numbers of joints."""

_MOST = 0.25
"""Longest time that a simulation makes up for at once [s]."""


class RobotBody:
    """One world of one robot, without what acts in its file besides the motors.

    Args:
        file: The configuration file.
        rate: Frequency of the actions [Hz]: each step takes its period; 0 lets steps make up for the time that passed.
        unit: The unit of all joints: `degrees`, `radians`, `range_m100_100` or `range_0_100`.
        units: Units of joints that have another one, by name.
        zero: `joint` if angles are from the joints' zeros, `middle` if from the middle of their ranges.
        cameras: Labels of the cameras that are observed: sensors with the output `color`; None for all.
        overrides: Values that replace those of the file, by key path, as TOML.
        keeps_motions: Whether the motions of the file act, and give the targets.

    Raises:
        ConfigError: The file is wrong, or does not fit.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    def __init__(
        self,
        file: str,
        *,
        rate: float = 0.0,
        unit: str = "degrees",
        units: Mapping[str, str] | None = None,
        zero: str = "joint",
        cameras: Sequence[str] | None = (),
        overrides: Mapping[str, str] | None = None,
        keeps_motions: bool = False,
    ) -> None:
        config = load(file, parse_overrides(overrides or {}))
        acting = [name for name in ACTING if not (keeps_motions and name == "motions")]
        #: The simulation.
        self.simulation: Simulation = Simulation(config.with_tables(**dict.fromkeys((*acting, "recorders"))))
        try:
            own = getattr(config, "robot", None)
            robot = _Body(own.config if own else _robot_of(self.simulation))
            self._emulator = Emulator(self.simulation, robot)
            #: The driven joints, in the order of the file's table `robot.joints`, or as they are driven.
            self.joints: Sequence[DrivenJoint] = self._emulator.plan.joints
            self._factor, self._zero = scales(self.joints, unit, units or {}, zero)
            self._steps = self._steps_of(rate)
            #: The cameras: name, array and index.
            self.images: Sequence[tuple[str, Any, int]] = images_of(self.simulation, 1, cameras)
        except BaseException:
            self.simulation.close()
            raise
        self._commands: RobotCommands = robot.commands
        self._begin, self._done = time.monotonic(), 0
        #: Names of the numbers, as LeRobot has them.
        self.keys: Sequence[str] = [f"{joint.name}.pos" for joint in self.joints]

    def _steps_of(self, rate: float) -> int:
        if rate == 0.0:
            return 0
        steps = 1.0 / (rate * self.simulation.dt)
        if rate < 0.0 or abs(steps - round(steps)) > 1e-6 * steps:
            raise ConfigError(
                f"rate: {rate:g} Hz is no whole number of steps of {self.simulation.dt:g} s; choose"
                f" {1.0 / (max(1, round(abs(steps))) * self.simulation.dt):.6g}"
            )
        return round(steps)

    def begin(self) -> None:
        """Begin anew, at the start of the file, with torque."""
        self._emulator.open()  # kernels are compiled before the clock begins
        self.simulation.reset()
        self._emulator.measure()
        self._commands.position[:] = self._emulator.readings.position
        self._begin, self._done = time.monotonic(), 0

    def observed(self) -> dict[str, Any]:
        """Return what LeRobot observes: positions by key, and images, uint8 of shape [height, width, 3]."""
        found: dict[str, Any] = self._numbers(self._emulator.readings.position)
        for name, array, index in self.images:
            found[name] = array.numpy()[0, index, :, :, :3].copy()
        return found

    def targets(self) -> dict[str, float]:
        """Return the targets that the motions of the file wrote last."""
        targets = np.zeros(len(self.joints))
        for label, (rows, columns) in self._emulator.plan.groups.items():
            targets[rows] = self.simulation.actuators[label].position_targets.numpy()[0][columns]
        return self._numbers(targets)

    def command(self, action: Mapping[str, Any]) -> dict[str, float]:
        """Set targets, within the limits of the joints, and return them.

        Raises:
            ConfigError: A joint is missing or unknown, or its target is no number.
        """
        if odd := sorted(set(action) ^ set(self.keys)):
            raise ConfigError(f"action: {odd[0]!r} is missing or unknown; an action has: {', '.join(self.keys)}")
        numbers = np.array([float(action[key]) for key in self.keys])
        if not np.isfinite(numbers).all():
            raise ConfigError(f"action: not finite: {dict(action)}")
        low, high = (np.array([getattr(joint, end) for joint in self.joints]) for end in ("lower", "upper"))
        self._commands.position[:] = np.clip((numbers - self._zero) / self._factor, low, high)
        return self._numbers(self._commands.position)

    def advance(self, *, is_action: bool) -> None:
        """Step: for the time that passed since the last call, or for the period of an action."""
        if self._steps:
            count = self._steps if is_action else 0
        else:
            due = math.floor((time.monotonic() - self._begin) / self.simulation.dt)
            count = min(due - self._done, math.ceil(_MOST / self.simulation.dt))
            self._done = due
        for _ in range(count):
            self._emulator.step()

    def close(self) -> None:
        """Close the simulation."""
        self.simulation.close()

    def _numbers(self, positions: np.ndarray) -> dict[str, float]:
        return dict(zip(self.keys, (positions * self._factor + self._zero).tolist(), strict=True))


class _Body(RobotPlugin):
    """The robot of the emulator: its server is this process."""

    def __init__(self, config: RobotConfig) -> None:
        super().__init__(config)
        self.commands = RobotCommands(len(config.joints))

    def serve(self, joints: Sequence[DrivenJoint]) -> RobotServer:
        """Return the server that hands over the commands."""
        return _Here(self.commands)


class _Here(RobotServer):
    def __init__(self, commands: RobotCommands) -> None:
        self._commands = commands

    def open(self, readings: RobotReadings) -> None:
        """Nobody else can reach it."""

    def publish(self, readings: RobotReadings) -> None:
        """The readings are in the simulation."""

    def commands(self, readings: RobotReadings) -> RobotCommands:
        """Return the commands."""
        return self._commands

    def close(self) -> None:
        """There is nothing to close."""


def scales(
    joints: Sequence[DrivenJoint], unit: str, units: Mapping[str, str], zero: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return factors and sums that make LeRobot's numbers from positions, shape [joints].

    Args:
        joints: The joints.
        unit: The unit of all.
        units: Units of joints that have another one, by name.
        zero: `joint` or `middle`.

    Raises:
        ConfigError: A unit, a joint or the zero is unknown, or a joint lacks the limits that its unit needs.
    """
    if zero not in ("joint", "middle"):
        raise ConfigError(f"zero: {zero!r} is neither 'joint' nor 'middle'")
    if odd := sorted(set(units) - {joint.name for joint in joints}):
        raise ConfigError(f"units: there is no joint {odd[0]!r}; joints: {', '.join(joint.name for joint in joints)}")
    found = []
    for joint in joints:
        own = units.get(joint.name, unit)
        middle, way = 0.5 * (joint.lower + joint.upper), joint.upper - joint.lower
        if own not in UNITS or (own not in RANGES and not joint.is_angle):
            possible = UNITS if joint.is_angle else tuple(RANGES)
            raise ConfigError(f"units: {joint.name} has no unit {own!r}; choose one of {', '.join(possible)}")
        if (own in RANGES or zero == "middle") and not math.isfinite(way):
            raise ConfigError(f"units: {joint.name} has no limits; choose degrees from zero 'joint'")
        if own in RANGES:
            low, high = RANGES[own]
            found.append(((high - low) / way, low - (high - low) * joint.lower / way))
        else:
            factor = math.degrees(1.0) if own == "degrees" else 1.0
            found.append((factor, -factor * middle if zero == "middle" else 0.0))
    factors, sums = np.array(found).T
    return factors, sums


def _robot_of(simulation: Simulation) -> RobotConfig:
    names = driven_names(simulation)
    if not names:
        raise ConfigError("actuators: no joint of this file follows positions; add a group of actuators that does")
    return RobotConfig(joints={name: RobotJointConfig() for name in names})
