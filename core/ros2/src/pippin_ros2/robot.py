"""Robots of ROS 2: the robot's side, and the driver, over any wire."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pippin import ConfigError
from pippin.studies import current_progress
from pippin_robot import DrivenJoint, RobotCommands, RobotDriver, RobotFault, RobotPlugin, RobotReadings, RobotServer

from . import Ros2Config, RosConfig, ZenohConfig
from .cdr import decode, encode
from .dds import DdsWire
from .joints import JointNames, TopicTargets
from .messages import messages, stamp
from .wire import Wire
from .zenoh import ZenohWire

_STATE, _CLOCK, _IMU = "sensor_msgs/JointState", "rosgraph_msgs/Clock", "sensor_msgs/Imu"
_NUMBERS, _TRAJECTORY = "std_msgs/Float64MultiArray", "trajectory_msgs/JointTrajectory"

_NAP = 1e-3
"""Time between two looks for a message [s]."""


class _Ros(RobotPlugin):
    """A robot of ROS over some wire."""

    faults = ("silence", "quit")

    def wire(self) -> Wire:
        """Return a new connection."""
        raise NotImplementedError

    def serve(self, joints: Sequence[DrivenJoint]) -> RosServer:
        """Return the robot's side."""
        return RosServer(self.config, JointNames(self.config), self.wire)

    def connect(self, joints: Sequence[DrivenJoint]) -> RosDriver:
        """Return the driver, once the robot has told its joints."""
        if self.config.safety.on_fault not in RosDriver.stops:
            how = self.config.safety.on_fault
            raise ConfigError(f"robot.safety.on_fault: a JointState cannot ask for {how!r}; set it to 'hold'")
        return RosDriver(self.config, JointNames(self.config), self.wire())


class Ros2(_Ros):
    """A robot of ROS 2 by DDS."""

    config: Ros2Config

    def wire(self) -> Wire:
        """Return a participant of the domain."""
        return DdsWire(self.config, messages(), self.config.node)


class Zenoh(_Ros):
    """A robot of ROS 2 by Zenoh."""

    config: ZenohConfig

    def wire(self) -> Wire:
        """Return a session."""
        return ZenohWire(self.config, self.config.node)


class RosServer(RobotServer):
    """An emulated robot of ROS 2: a node that tells its state after each step, and follows commands."""

    def __init__(self, config: RosConfig, names: JointNames, wire: Callable[[], Wire]) -> None:
        self._config, self._names, self._connect = config, names, wire
        self._targets = TopicTargets(names, config.commands_are)
        self._counts = {"states": 0, "commands": 0, "refused": 0}
        self._wire: Wire | None = None
        self._is_silent = False

    def open(self, readings: RobotReadings) -> None:
        """Join the domain, and tell the first state."""
        config, wire = self._config, self._connect()
        self._wire = wire
        self._tell = wire.writer(config.joint_states, _STATE)
        self._tell_imu = wire.writer(config.imu_topic, _IMU) if config.imu is not None else None
        self._tell_clock = wire.writer("/clock", _CLOCK) if config.use_sim_time else None
        heard: list[tuple[str | None, str, Callable[..., None]]] = [
            (config.joint_command, _STATE, self._targets.follow_state),
            (config.commands, _NUMBERS, self._targets.follow_numbers),
            (config.trajectory, _TRAJECTORY, self._targets.follow_trajectory),
        ]
        self._heard = [
            (topic, wire.reader(topic, kind, config.reliability), kind, follow)
            for topic, kind, follow in heard
            if topic is not None
        ]
        wire.announce()
        self.address = f"{wire.address}: {config.joint_states}, {config.joint_command}"
        self.publish(readings)

    def commands(self, readings: RobotReadings) -> RobotCommands:
        """Return what was commanded."""
        now = self._now(readings)
        if not self._is_silent:
            for topic, take, kind, follow in self._heard:
                for data in take():
                    self._counts["commands"] += 1
                    try:
                        follow(decode(messages(), kind, data), now, readings.position)
                    except ValueError as error:
                        self._counts["refused"] += 1
                        current_progress().remark(f"a message at {topic} is refused: {error}")
        return self._targets.at(now)

    def _now(self, readings: RobotReadings) -> float:
        return readings.simulated if self._config.use_sim_time else time.time()

    def publish(self, readings: RobotReadings) -> None:
        """Tell the state."""
        if self._is_silent:
            return
        names, time_now = self._names, stamp(self._now(readings))
        state = {"header": {"stamp": time_now}, "name": names.names, "position": names.told(readings.position)}
        state |= {"velocity": names.turned(readings.velocity), "effort": names.turned(readings.effort)}
        self._tell(encode(messages(), _STATE, state))
        if self._tell_imu is not None:
            unit: dict[str, Any] = {"header": {"stamp": time_now, "frame_id": self._config.imu_frame}}
            unit["orientation"] = dict(zip("xyzw", readings.orientation, strict=True))
            unit["angular_velocity"] = dict(zip("xyz", readings.angular_velocity, strict=True))
            unit["linear_acceleration"] = dict(zip("xyz", readings.acceleration, strict=True))
            self._tell_imu(encode(messages(), _IMU, unit))
        if self._tell_clock is not None:
            self._tell_clock(encode(messages(), _CLOCK, {"clock": time_now}))
        self._counts["states"] += 1

    def set_faults(self, is_silent: bool, lost: float, damaged: float) -> None:
        """Let the robot be silent, or no more: it tells and hears nothing."""
        self._is_silent = is_silent

    def counts(self) -> dict[str, int]:
        """Return the numbers of states told, of commands heard, and of those that were refused."""
        return dict(self._counts)

    def close(self) -> None:
        """Leave the domain."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None


class RosDriver(RobotDriver):
    """The driver of a robot of ROS 2.

    Raises:
        ConfigError: The domain cannot be joined.
        RobotFault: No message has all joints.
    """

    stops = ("hold",)
    notes = ("a JointState has no switch of torque and no gains: the robot's controllers have them",)

    def __init__(self, config: RosConfig, names: JointNames, wire: Wire) -> None:
        self._config, self._names, self._wire = config, names, wire
        self._counts = {"states": 0, "commands": 0, "others": 0}
        self._take = wire.reader(config.joint_states, _STATE, config.reliability)
        self._tell = wire.writer(config.joint_command, _STATE)
        self._take_imu = wire.reader(config.imu_topic, _IMU, config.reliability) if config.imu else None
        wire.announce()
        self._seen: set[str] = set()
        try:
            self._await(RobotReadings(len(names.names)), config.wait)
        except BaseException:
            self.close()
            raise

    def read(self, readings: RobotReadings) -> None:
        """Take the newest state, and wait for one if none has come."""
        self._await(readings, self._config.timeout)

    def _await(self, readings: RobotReadings, longest: float) -> None:
        end = time.monotonic() + longest
        while not self._receive(readings):
            if time.monotonic() > end:
                missing = [name for name in self._names.names if name not in self._seen]
                others = f"; it names {', '.join(sorted(self._seen))}" if self._seen and missing else ""
                raise RobotFault(
                    f"{self._config.joint_states}, {self._wire.address}: for {longest:g} s, no message has"
                    f" {', '.join(missing) or 'all joints'}{others}",
                    "silence",
                )
            time.sleep(_NAP)

    def _receive(self, readings: RobotReadings) -> bool:
        """Take what has come, and return whether a message with all joints was among it."""
        try:
            for data in self._take_imu() if self._take_imu is not None else ():
                unit = decode(messages(), _IMU, data)
                readings.orientation[:] = [unit["orientation"][axis] for axis in "xyzw"]
                readings.angular_velocity[:] = [unit["angular_velocity"][axis] for axis in "xyz"]
                readings.acceleration[:] = [unit["linear_acceleration"][axis] for axis in "xyz"]
            return sum(self._follow(decode(messages(), _STATE, data), readings) for data in self._take()) > 0
        except ValueError as error:
            raise RobotFault(f"the robot tells what cannot be read: {error}", "damaged") from error

    def _follow(self, told: dict[str, Any], readings: RobotReadings) -> bool:
        places, count = self._names.finds_all(told["name"]), len(told["name"])
        self._seen.update(told["name"])
        if places is None or len(told["position"]) != count:
            self._counts["others"] += 1
            return False
        self._counts["states"] += 1
        readings.time = time.monotonic()
        for field in ("position", "velocity", "effort"):
            if len(told[field]) == count:
                setattr(readings, field, self._names.own(field, told[field][places], range(len(places))))
        return True

    def write(self, commands: RobotCommands) -> None:
        """Tell the targets of the joints that have one; velocities and efforts only if all of these have some."""
        rows = np.flatnonzero(~np.isnan(commands.position))
        if not len(rows):
            return
        names = [self._names.names[row] for row in rows]
        values = {"position": self._names.told(commands.position)[rows]}
        for field in ("velocity", "effort"):
            own = self._names.turned(getattr(commands, field))[rows]
            if not np.isnan(own).any():
                values[field] = own
        header = {"stamp": stamp(time.time())}
        self._tell(encode(messages(), _STATE, {"header": header, "name": names, **values}))
        self._counts["commands"] += 1

    def set_torque(self, is_on: bool) -> None:
        """Do nothing when torque is asked for, as the robot has it."""
        if not is_on:
            raise RobotFault("a JointState cannot take the torque; stop the robot's controllers", "torque")

    def has_torque(self) -> bool:
        """Return True."""
        return True

    def stop(self, how: str, position: np.ndarray) -> None:
        """Hold the measured positions."""
        if how not in self.stops:
            raise RobotFault(f"a JointState cannot ask for {how!r}; it can: {', '.join(self.stops)}", "stop")
        commands = RobotCommands(len(position))
        commands.position = position
        self.write(commands)

    def counts(self) -> dict[str, int]:
        """Return the numbers of states and commands, and of states of other joints."""
        return dict(self._counts)

    def close(self) -> None:
        """Leave the domain."""
        self._wire.close()
