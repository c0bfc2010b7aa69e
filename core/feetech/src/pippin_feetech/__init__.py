"""Servos of Feetech, series STS and SMS, on a serial bus, as the arms SO-100 and SO-101 have them: the settings."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from attrs.validators import min_len
from pippin_robot.bus import BusConfig, BusJointConfig

__all__ = ["FeetechConfig", "FeetechJointConfig"]


@attrs.frozen(kw_only=True)
class FeetechJointConfig(BusJointConfig):
    """A servo: its encoder has 4096 counts a turn, and 2048 is the middle."""

    zero: int = 2048
    """Count of the encoder at the joint's zero, before the homing offset that the servo has in its memory."""


@attrs.frozen(kw_only=True)
class FeetechConfig(BusConfig):
    """Servos STS3215 on a serial bus.

    The driver reads positions, speeds, loads, voltages, temperatures and currents by one packet, and writes positions.
    """

    implementation = ".robot:Feetech"
    extra = "serial"

    joints: Mapping[str, FeetechJointConfig] = attrs.field(validator=min_len(1))
    """The servos, in the order in which the bus is asked."""
