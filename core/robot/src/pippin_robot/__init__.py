"""Robots: the kind `robot`, the table `[robot]`, `pippin emulate` and `pippin drive`."""

from typing import TYPE_CHECKING

from pippin.late import late

from .config import (
    EmulatedFaultConfig,
    RobotConfig,
    RobotEmulateConfig,
    RobotJointConfig,
    RobotLimitsConfig,
    RobotSafetyConfig,
)
from .contract import Commands, Readings, Robot, RobotDriver, RobotFault, RobotJoint, RobotServer

if TYPE_CHECKING:
    from .drive_result import DriveResult
    from .driving import drive
    from .emulating import EmulateResult, Emulator, emulate
    from .latency import LatencyResult, latency
    from .sources import DriveSource

__all__ = [
    "Commands",
    "DriveResult",
    "DriveSource",
    "EmulateResult",
    "EmulatedFaultConfig",
    "Emulator",
    "LatencyResult",
    "Readings",
    "Robot",
    "RobotConfig",
    "RobotDriver",
    "RobotEmulateConfig",
    "RobotFault",
    "RobotJoint",
    "RobotJointConfig",
    "RobotLimitsConfig",
    "RobotSafetyConfig",
    "RobotServer",
    "drive",
    "emulate",
    "latency",
]

__getattr__ = late(__name__)
