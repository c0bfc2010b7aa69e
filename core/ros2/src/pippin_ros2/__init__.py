"""Robots of ROS 2 by DDS or Zenoh, without an installation of ROS: the settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs
from attrs.validators import matches_re, min_len, optional
from pippin.validators import finite, positive
from pippin_robot import RobotConfig, RobotJointConfig

from .dds import DdsConfig
from .wire import Reliability
from .zenoh import ZenohSettings

__all__ = ["Ros2Config", "RosConfig", "RosJointConfig", "ZenohConfig"]

_topic = matches_re(r"(/[A-Za-z_]\w*)+")


@attrs.frozen(kw_only=True)
class RosJointConfig(RobotJointConfig):
    """A joint by its name in messages."""

    name: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of the joint in messages; by default that of the table."""

    zero: float = attrs.field(default=0.0, validator=finite)
    """Position in messages at the joint's zero [rad or m]."""


@attrs.frozen(kw_only=True)
class RosConfig(RobotConfig):
    """Settings that robots of ROS have in common: a `JointState` tells positions, and another one commands them.

    In a command, a joint without a name keeps its target, and so does one whose number is no number; positions,
    velocities or efforts may be empty. A message that names an unknown joint, or none, is refused as a whole.
    """

    joints: Mapping[str, RosJointConfig] = attrs.field(validator=min_len(1))
    """The joints, in the order of the messages."""

    node: str = attrs.field(default="pippin", validator=matches_re(r"[A-Za-z_]\w*"))
    """Name of the node."""

    joint_states: str = attrs.field(default="/joint_states", validator=_topic)
    """Topic of the measured positions, velocities and efforts: `sensor_msgs/JointState`."""

    joint_command: str = attrs.field(default="/joint_command", validator=_topic)
    """Topic of the targets: `sensor_msgs/JointState`."""

    commands: str | None = attrs.field(default=None, validator=optional(_topic))
    """Another topic of targets, which an emulated robot follows, too: `std_msgs/Float64MultiArray` in the order of
    `joints`, as the `forward_command_controller` takes it at `/NAME/commands`."""

    commands_are: Literal["position", "velocity", "effort"] = "position"
    """What the numbers of `commands` are."""

    trajectory: str | None = attrs.field(default=None, validator=optional(_topic))
    """Another one: `trajectory_msgs/JointTrajectory`, as the controller of trajectories takes it at
    `/NAME/joint_trajectory`. The targets go from where the joints are to the positions of each point at even speed."""

    imu_topic: str = attrs.field(default="/imu", validator=_topic)
    """Topic of the inertial unit, for a robot with `imu`: `sensor_msgs/Imu`."""

    imu_frame: str = "imu_link"
    """Name of the inertial unit's frame."""

    reliability: Reliability = "reliable"
    """Of what is read: `best-effort` hears all publishers, also those that do not send again what was lost."""

    use_sim_time: bool = False
    """Whether an emulated robot stamps messages with the time of the simulation, and publishes it at `/clock`."""

    timeout: float = attrs.field(default=0.03, validator=positive)
    """Time in which the driver waits for a message of `joint_states` [s]."""

    wait: float = attrs.field(default=10.0, validator=positive)
    """Longest time in which the driver finds the robot [s]."""


@attrs.frozen(kw_only=True)
class Ros2Config(DdsConfig, RosConfig):
    """A robot of ROS 2 by DDS, as its nodes talk by default."""

    implementation = ".robot:Ros2"
    extra = "dds"


@attrs.frozen(kw_only=True)
class ZenohConfig(ZenohSettings, RosConfig):
    """A robot of ROS 2 by Zenoh, as `rmw_zenoh` talks."""

    implementation = ".robot:Zenoh"
    extra = "zenoh"
