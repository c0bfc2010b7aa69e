"""The contract of robots: readings and commands in SI units, a server that is the robot, a driver that drives one."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from pippin import ConfigError, PippinError

Stop = Literal["hold", "damp", "limp"]
"""How a robot is left: it holds its position, brakes, or is free of torque."""


class RobotFault(PippinError):  # noqa: N818  what happened to a robot, and no mistake of a program
    """A robot did not answer, or told a fault, or a limit of its safety was passed.

    Args:
        reason: What happened, in one sentence.
        kind: A word for tables and recordings, such as `silence`.
    """

    exit_code = 5

    def __init__(self, reason: str, kind: str) -> None:
        super().__init__(reason)
        self.kind = kind


@attrs.frozen(kw_only=True)
class DrivenJoint:
    """A driven joint, as the file has it."""

    name: str
    """Name in the table `robot.joints`."""
    lower: float
    """Lowest position [rad or m]; minus infinity without a limit."""
    upper: float
    """Highest position [rad or m]."""
    velocity_limit: float
    """Largest speed [rad/s or m/s]; infinity without a limit."""
    effort_limit: float
    """Largest effort [N·m or N]; infinity without a limit."""
    start: float
    """Position at the start of the file [rad or m]."""
    is_angle: bool = True
    """Whether the joint turns."""


class RobotReadings:
    """Measurements of a robot at one time, in the order of the joints, shape [joints]. NaN: it does not measure it.

    Args:
        count: Number of joints.
    """

    def __init__(self, count: int) -> None:
        self.time: float = 0.0
        """Time of the measurement, on the clock of `time.monotonic` [s]."""
        self.simulated: float = 0.0
        """Time of an emulated robot's simulation, from the moment that it can be reached [s]."""
        unknown = np.full(count, np.nan)
        self.position: np.ndarray = unknown.copy()
        """Positions [rad or m]."""
        self.velocity: np.ndarray = unknown.copy()
        """Velocities [rad/s or m/s]."""
        self.effort: np.ndarray = unknown.copy()
        """Efforts of the motors [N·m or N]."""
        self.current: np.ndarray = unknown.copy()
        """Currents of the motors [A]."""
        self.voltage: np.ndarray = unknown.copy()
        """Voltages of the supply [V]."""
        self.temperature: np.ndarray = unknown.copy()
        """Temperatures of the motors [°C]."""
        self.orientation: np.ndarray = np.full(4, np.nan)
        """Orientation of the inertial unit: a quaternion x, y, z, w, from its axes to the world's."""
        self.angular_velocity: np.ndarray = np.full(3, np.nan)
        """Angular velocity in the axes of the unit [rad/s]."""
        self.acceleration: np.ndarray = np.full(3, np.nan)
        """Specific force in the axes of the unit [m/s²]: at rest, that against gravity."""


class RobotCommands:
    """Targets, gains and torque of motors, in the order of the joints, shape [joints]. NaN: it is left as it is.

    Args:
        count: Number of joints.
    """

    def __init__(self, count: int) -> None:
        nothing = np.full(count, np.nan)
        self.position: np.ndarray = nothing.copy()
        """Targets of the positions [rad or m]."""
        self.velocity: np.ndarray = nothing.copy()
        """Targets of the velocities [rad/s or m/s]."""
        self.effort: np.ndarray = nothing.copy()
        """Efforts that are added [N·m or N]."""
        self.kp: np.ndarray = nothing.copy()
        """Gain of the positions, in the unit of the actuator in the file."""
        self.kd: np.ndarray = nothing.copy()
        """Gain of the velocities, likewise."""
        self.effort_share: np.ndarray = nothing.copy()
        """Largest effort, as a share of the motor's."""
        self.enabled: np.ndarray = np.ones(count, dtype=bool)
        """Whether a motor has torque; without, the joint is free."""


class RobotServer(abc.ABC):
    """The robot's side: what programs that others wrote talk to.

    `open` begins to answer; until then nobody can see the robot.
    """

    #: What a client is told in order to reach the robot, such as a port; known after `open`.
    address: str = ""
    #: Facts that a user should know.
    notes: Sequence[str] = ()

    @abc.abstractmethod
    def open(self, readings: RobotReadings) -> None:
        """Become reachable, with these readings in place before.

        Args:
            readings: Measurements before the first step.

        Raises:
            ConfigError: The port or the interface cannot be had.
        """

    @abc.abstractmethod
    def publish(self, readings: RobotReadings) -> None:
        """Tell what the robot measures; called after each step, as soon as it is computed.

        Args:
            readings: Measurements at the end of the step.
        """

    @abc.abstractmethod
    def commands(self, readings: RobotReadings) -> RobotCommands:
        """Return what the robot was told last; called before each step.

        Args:
            readings: Measurements at the beginning of the step.

        Raises:
            RobotFault: The server ended.
        """

    def homings(self) -> int | None:
        """Return a number that changes when a program sets the middle of motors; None if the server cannot tell."""
        return None

    def set_faults(self, is_silent: bool, lost: float, damaged: float) -> None:
        """Let answers go wrong, if the plugin's `faults` name it.

        Args:
            is_silent: Whether there are none.
            lost: Share of answers that are lost.
            damaged: Share of answers that are damaged.
        """
        return

    def set_overload(self, chosen: np.ndarray) -> None:
        """Let motors tell an overload, or no more, likewise.

        Args:
            chosen: Which motors, boolean, shape [joints].
        """
        return

    def calibrate(self, file: Path | None) -> Mapping[str, Any]:
        """Give the motors a calibration, and return LeRobot's table of it, which is written too.

        Args:
            file: The file; None for none.

        Raises:
            ConfigError: This robot has none.
        """
        raise ConfigError("--calibrated: this robot has no calibration; leave it out")

    def counts(self) -> dict[str, int]:
        """Return numbers for the summary, such as of packets, by name."""
        return {}

    @abc.abstractmethod
    def close(self) -> None:
        """Be gone; a second call does nothing."""


class RobotDriver(abc.ABC):
    """The other side: a connection to a robot, which is there when the constructor returns."""

    #: Ways in which the robot can be left.
    stops: Sequence[Stop] = ("hold", "limp")
    #: Facts that a user should know.
    notes: Sequence[str] = ()

    @abc.abstractmethod
    def read(self, readings: RobotReadings) -> None:
        """Measure.

        Args:
            readings: Is filled.

        Raises:
            RobotFault: The robot does not answer, or told a fault.
        """

    @abc.abstractmethod
    def write(self, commands: RobotCommands) -> None:
        """Command the motors; `enabled` is not looked at.

        Args:
            commands: The targets, gains and shares of effort.

        Raises:
            RobotFault: The robot does not take it.
        """

    @abc.abstractmethod
    def set_torque(self, is_on: bool) -> None:
        """Give torque to all motors, or take it. The targets are the measured positions before it is given.

        Args:
            is_on: Whether they have torque then.

        Raises:
            RobotFault: The robot does not take it.
        """

    @abc.abstractmethod
    def has_torque(self) -> bool:
        """Return whether all motors have torque, as the robot says.

        Raises:
            RobotFault: The robot does not answer.
        """

    @abc.abstractmethod
    def stop(self, how: Stop, position: np.ndarray) -> None:
        """Leave the robot in one of `stops`.

        Args:
            how: Which one.
            position: The last measured positions, shape [joints].

        Raises:
            RobotFault: The robot does not take it.
        """

    def rounded(self, position: np.ndarray) -> np.ndarray:
        """Return targets as the robot can be told them, such as in whole counts of its encoders; they are recorded.

        Args:
            position: The targets [rad or m], shape [joints].
        """
        return position

    def counts(self) -> dict[str, int]:
        """Return numbers for the summary, such as of packets, by name."""
        return {}

    @abc.abstractmethod
    def close(self) -> None:
        """Let go of the connection; torque stays as it is. A second call does nothing."""


class RobotPlugin:
    """A plugin: a protocol, with one side or both.

    Args:
        config: The plugin's configuration, which derives from `RobotConfig`.
    """

    faults: ClassVar[Sequence[str]] = ()
    """Kinds of `robot.emulate.faults` that the server can do."""

    gain_types: ClassVar[Sequence[str]] = ()
    """Types of actuators whose gain `kp` is in the unit of the robot, so that `pippin drive` writes it."""

    max_rate: float | None = None
    """Highest rate that the protocol carries [Hz]; None if nobody knows."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def serve(self, joints: Sequence[DrivenJoint]) -> RobotServer:
        """Return the robot's side.

        Args:
            joints: The driven joints, in the order of `robot.joints`.

        Raises:
            ConfigError: The settings do not fit.
        """
        raise ConfigError(f"robot: a {type(self).__name__} has no side of the robot; choose another type to emulate")

    def connect(self, joints: Sequence[DrivenJoint]) -> RobotDriver:
        """Return the other side, connected: it has found all joints at the robot.

        Args:
            joints: The driven joints, in the order of `robot.joints`.

        Raises:
            ConfigError: The settings do not fit, or the port is not there or in use.
            RobotFault: The robot does not answer, or is another one.
        """
        raise ConfigError(f"robot: a {type(self).__name__} has no driver; choose another type to drive")
