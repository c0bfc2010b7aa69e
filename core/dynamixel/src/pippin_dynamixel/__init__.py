"""Dynamixel servos of the series X on a bus, by protocol 2.0: the settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs
from attrs.validators import min_len
from pippin_robot.bus import BusConfig, BusJointConfig

__all__ = ["DynamixelConfig", "DynamixelJointConfig"]


@attrs.frozen(kw_only=True)
class DynamixelJointConfig(BusJointConfig):
    """A servo: its encoder has 4096 counts a turn, and 2048 is the middle."""

    zero: int = 2048
    """Count of the encoder at the joint's zero, before the homing offset and the direction in the servo's memory."""

    model: Literal["xl330-m077", "xl330-m288", "xl430-w250", "xm430-w350"] = "xl330-m288"
    """The model of the servo."""


@attrs.frozen(kw_only=True)
class DynamixelConfig(BusConfig):
    """Servos of the series X on a bus, in the modes 3, 4 and 5, which follow positions.

    The driver reads positions, speeds, currents, voltages and temperatures by one packet, and writes positions.
    """

    implementation = ".robot:Dynamixel"
    extra = "serial"

    joints: Mapping[str, DynamixelJointConfig] = attrs.field(validator=min_len(1))
    """The servos, in the order in which the bus is asked."""

    fast: bool = False
    """Whether the driver asks for one answer of all servos (fast sync read), which new firmware knows: less bytes."""
