"""Robots of Unitree by their low-level topics: the settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs
from attrs.validators import ge, le, min_len
from pippin.validators import finite, positive
from pippin_robot import RobotConfig, RobotJointConfig
from pippin_ros2.dds import DdsConfig

__all__ = ["UnitreeConfig", "UnitreeJointConfig"]


@attrs.frozen(kw_only=True)
class UnitreeJointConfig(RobotJointConfig):
    """A motor by its name, such as `FR_hip` of a Go2 or `left_hip_pitch` of a G1."""

    motor: str | None = None
    """Name of the motor; by default that of the table, without `_joint` at its end."""

    zero: float = attrs.field(default=0.0, validator=finite)
    """Position in messages at the joint's zero [rad]."""


@attrs.frozen(kw_only=True)
class UnitreeConfig(DdsConfig, RobotConfig):
    """A robot of Unitree by `rt/lowstate` and `rt/lowcmd`, with the checksums that its SDK asks for.

    Each motor follows τ = tau + kp (q − position) + kd (dq − velocity), in each physics step, by the numbers of the
    last command. A motor without a table is off.
    """

    implementation = ".robot:Unitree"
    extra = "dds"

    joints: Mapping[str, UnitreeJointConfig] = attrs.field(validator=min_len(1))
    """The joints, by their names in the file."""

    robot: Literal["go2", "g1", "h1_2"]
    """The model, which has the number and the order of the motors."""

    domain: int = attrs.field(default=1, validator=[ge(0), le(232)])
    """Number of the domain: 1 of a simulated robot by custom, 0 of a real one."""

    start: Literal["off", "hold"] = "off"
    """Motors of an emulated robot before the first command: off, or holding the pose of the file, as by a program of
    the robot's own that a client takes over from."""

    mode_machine: int = attrs.field(default=5, validator=[ge(0), le(255)])
    """Number of the variant that an emulated G1 or H1-2 tells, and that a program sends back."""

    repeat: float = attrs.field(default=500.0, validator=positive)
    """Frequency at which the driver sends its last command [Hz]. If `pippin drive` gives no new one within the
    watchdog, it sends one that brakes."""

    timeout: float = attrs.field(default=0.03, validator=positive)
    """Time in which the driver waits for `rt/lowstate` [s]."""

    wait: float = attrs.field(default=10.0, validator=positive)
    """Longest time in which the driver finds the robot, or gives it torque [s]."""
