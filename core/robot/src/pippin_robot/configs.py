"""Robots by LeRobot's own classes: the settings, and the numbers that LeRobot has for positions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import attrs
from attrs.validators import min_len, optional
from pippin.validators import finite

from .config import RobotConfig, RobotJointConfig

Unit = Literal["degrees", "radians", "range_m100_100", "range_0_100"]
"""LeRobot's words for its numbers: an angle, or a place in the calibrated range, -100 to 100 or 0 to 100."""

RANGES: Mapping[str, tuple[float, float]] = {"range_m100_100": (-100.0, 100.0), "range_0_100": (0.0, 100.0)}
"""The numbers at both ends of a range, by unit."""


@attrs.frozen(kw_only=True)
class LeRobotJointConfig(RobotJointConfig):
    """A motor as LeRobot has it. Its numbers have a unit and a zero of their own, which nobody can guess."""

    name: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """LeRobot's name of the motor; by default that of the joint."""

    unit: Unit = attrs.field()
    """What LeRobot's numbers are."""

    zero: float | None = attrs.field(default=None, validator=optional(finite))
    """LeRobot's number at the joint's zero; needed with degrees and radians, whose zero is often the middle of a
    calibrated range."""

    range: tuple[float, float] | None = None
    """Positions of the joint [rad or m] at LeRobot's lowest and highest number; needed with the other units."""

    def __attrs_post_init__(self) -> None:
        needed, other = ("range", "zero") if self.unit in RANGES else ("zero", "range")
        if getattr(self, needed) is None:
            raise ValueError(f"'{needed}' is missing; give it with unit {self.unit!r}")
        if getattr(self, other) is not None:
            raise ValueError(f"'{other}' is not used with unit {self.unit!r}; leave it out")
        if self.range is not None:
            if not all(map(math.isfinite, self.range)) or self.range[0] == self.range[1]:
                raise ValueError(f"'range' must be two different positions: {list(self.range)}")
            if self.sign < 0:
                raise ValueError("'sign' is not used with a range; give its ends in the other order")

    @property
    def scale(self) -> tuple[float, float]:
        """LeRobot's number is the first one times the position of the joint, plus the second one."""
        if self.range is None:
            factor = self.sign * (math.degrees(1.0) if self.unit == "degrees" else 1.0)
            return factor, self.zero or 0.0
        low, high = RANGES[self.unit]
        factor = (high - low) / (self.range[1] - self.range[0])
        return factor, low - factor * self.range[0]


@attrs.frozen(kw_only=True)
class LeRobotRobotConfig(RobotConfig):
    """Any robot of LeRobot, driven by its own class. Pippin must be in LeRobot's environment.

    The class opens the port, and must find its calibration: `lerobot-calibrate` makes one. Whatever the class does by
    itself, such as its limits, happens after those of `pippin drive`.
    """

    implementation = ".lerobot_driver:LeRobotRobot"

    robot: Mapping[str, Any] = attrs.field(validator=min_len(1))
    """LeRobot's own settings, as its commands take them after `--robot.`: `type`, `port`, `id` and others."""

    joints: Mapping[str, LeRobotJointConfig] = attrs.field(validator=min_len(1))
    """The motors, each of which LeRobot must have."""
