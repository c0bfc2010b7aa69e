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
from .contract import DrivenJoint, RobotCommands, RobotDriver, RobotFault, RobotPlugin, RobotReadings, RobotServer

if TYPE_CHECKING:
    from .drive_result import DriveResult
    from .driving import drive
    from .emulating import EmulateResult, Emulator, emulate
    from .latency import LatencyResult, latency
    from .sources import DriveSource

__all__ = [
    "DriveResult",
    "DriveSource",
    "DrivenJoint",
    "EmulateResult",
    "EmulatedFaultConfig",
    "Emulator",
    "LatencyResult",
    "RobotCommands",
    "RobotConfig",
    "RobotDriver",
    "RobotEmulateConfig",
    "RobotFault",
    "RobotJointConfig",
    "RobotLimitsConfig",
    "RobotPlugin",
    "RobotReadings",
    "RobotSafetyConfig",
    "RobotServer",
    "drive",
    "emulate",
    "latency",
]

__getattr__ = late(__name__)
