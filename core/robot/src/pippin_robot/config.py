"""The `[robot]` table: the settings that every robot has in common; each plugin adds its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import attrs
from attrs.validators import ge, gt, in_, le, lt, min_len, optional
from pippin.actuation import parameter
from pippin.validators import finite, non_negative, positive


def _range(instance: Any, attribute: attrs.Attribute[Any], value: tuple[float, float] | None) -> None:
    if value is not None and not -math.inf < value[0] < value[1] < math.inf:
        raise ValueError(f"'{attribute.name}' must be a range [low, high] with low < high: {list(value)}")


@attrs.frozen(kw_only=True)
class RobotJointConfig:
    """A driven joint of the file at the robot; each plugin adds how the robot names it."""

    sign: Literal[1, -1] = 1
    """-1 if the robot counts in the other direction than the file."""


@attrs.frozen(kw_only=True)
class RobotLimitsConfig:
    """Limits on what `pippin drive` sends, besides those of the file's joints. A limit may not be wider than theirs."""

    position_margin: float = attrs.field(default=0.0, validator=non_negative)
    """Distance that targets keep from the limits of the joints [rad or m]."""

    velocity: float | Mapping[str, float] | None = parameter(default=None, above=0.0)
    """Largest speed of the targets [rad/s or m/s], for all joints or by pattern; by default that of the joints."""

    acceleration: float | Mapping[str, float] | None = parameter(default=None, above=0.0)
    """Largest acceleration of the targets [rad/s² or m/s²], likewise; by default any."""

    effort: float = attrs.field(default=1.0, validator=[gt(0.0), le(1.0)])
    """Share of the motors' largest effort, where the robot takes such a limit."""

    step: float | None = attrs.field(default=None, validator=optional(positive))
    """Largest distance from a measured position to its target [rad or m]; by default any."""


@attrs.frozen(kw_only=True)
class RobotSafetyConfig:
    """Faults that end `pippin drive`, and how they leave the robot."""

    watchdog: float = attrs.field(default=0.1, validator=positive)
    """Time without a reading, or without finite targets, after which `on_fault` follows [s]."""

    on_fault: Literal["hold", "damp", "limp"] = "hold"
    """How a fault leaves the robot: it holds its position, brakes, or is free of torque."""

    soft_start: float = attrs.field(default=2.0, validator=positive)
    """Time from the measured positions to the first targets, with least jerk [s]."""

    max_late: int = attrs.field(default=3, validator=ge(1))
    """Periods in a row that may begin more than half a period late."""

    temperature: float | None = attrs.field(default=60.0, validator=optional(finite))
    """Temperature of a motor from which on it is a fault [°C], where the robot tells it."""

    voltage: tuple[float, float] | None = attrs.field(default=None, validator=_range)
    """Voltages of the supply that are no fault [V], where the robot tells it; by default any."""

    tilt: float | None = attrs.field(default=None, validator=optional([gt(0.0), lt(math.pi)]))
    """Angle of the body's upright from the vertical from which on it is a fault [rad]; by default any."""


ACTING = ("motions", "policy", "task", "controllers")
"""Tables of a file that would drive the robot besides the programs that talk to it."""

FAULTS = ("silence", "drop", "corrupt", "heat", "sag", "overload", "quit")
"""What an emulated robot can do wrong; a robot's plugin names those that it knows."""


@attrs.frozen(kw_only=True)
class EmulatedFaultConfig:
    """Something that goes wrong at an emulated robot."""

    kind: str = attrs.field(validator=in_(FAULTS))
    """`silence` answers nothing; `drop` and `corrupt` lose and damage a share of the answers; `heat` and `sag` set
    temperature and voltage; `overload` takes the torque; `quit` ends the emulator without a word."""

    start: float = attrs.field(default=0.0, validator=non_negative)
    """Time of its begin, from the moment that the robot can be reached [s]."""

    duration: float | None = attrs.field(default=None, validator=optional(positive))
    """Time that it lasts [s]; by default to the end."""

    value: float | None = attrs.field(default=None, validator=optional(finite))
    """Share of the answers (0 to 1), temperature [°C] or voltage [V]; needed by those that have one."""

    joints: tuple[str, ...] = attrs.field(default=(".*",), validator=min_len(1))
    """Patterns of the joints."""

    def __attrs_post_init__(self) -> None:
        needs = self.kind in ("drop", "corrupt", "heat", "sag")
        if needs != (self.value is not None):
            raise ValueError(f"'value' is {'missing; give it' if needs else 'not used; leave it out'} with {self.kind}")
        if self.kind in ("drop", "corrupt") and not 0.0 < (self.value or 0.0) <= 1.0:
            raise ValueError(f"'value' must be a share above 0 and up to 1 with {self.kind}: {self.value}")


@attrs.frozen(kw_only=True)
class RobotEmulateConfig:
    """Settings of an emulated robot besides those of its simulation."""

    temperature: float = attrs.field(default=25.0, validator=finite)
    """Temperature that the motors tell [°C]."""

    voltage: float | None = attrs.field(default=None, validator=optional(positive))
    """Voltage that the motors tell [V]; by default that of servos, and 12 V of others."""

    faults: tuple[EmulatedFaultConfig, ...] = ()
    """What goes wrong, by time."""


@attrs.frozen(kw_only=True)
class RobotConfig:
    """Settings of every robot; each plugin adds how it is reached."""

    rate: float = attrs.field(default=100.0, validator=positive)
    """Frequency of the loop of `pippin drive` [Hz]."""

    joints: Mapping[str, RobotJointConfig]
    """The driven joints of the file, each exactly once, in the robot's order."""

    imu: str | None = None
    """Label of the sensor `imu` that stands for the robot's inertial unit; a robot with a free base needs one."""

    limits: RobotLimitsConfig = RobotLimitsConfig()
    safety: RobotSafetyConfig = RobotSafetyConfig()
    emulate: RobotEmulateConfig = RobotEmulateConfig()
