"""Robots: the kind `robot`, the table `[robot]`, `pippin emulate` and `pippin drive`."""

from typing import TYPE_CHECKING

from pippin.late import late

from .config import (
    ACTING,
    EmulatedFaultConfig,
    RobotConfig,
    RobotEmulateConfig,
    RobotJointConfig,
    RobotLimitsConfig,
    RobotSafetyConfig,
)
from .configs import RANGES

if TYPE_CHECKING:
    from .contract import DrivenJoint, RobotCommands, RobotDriver, RobotFault, RobotPlugin, RobotReadings, RobotServer
    from .drive_result import DriveResult
    from .driving import drive
    from .emulating import EmulateResult, Emulator, emulate
    from .latency_measurement import LatencyResult, latency
    from .plan import driven_names
    from .sources import DriveSource

__all__ = [
    "ACTING",
    "RANGES",
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
    "driven_names",
    "emulate",
    "latency",
]

__getattr__ = late(__name__)
