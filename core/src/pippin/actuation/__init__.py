"""Shared parts of actuator plugins: their joints, and targets → delay → drive → clamping → `joint_f`.

At run time, only this package and the plugins use `newton.actuators`, which Newton calls experimental.
"""

from typing import TYPE_CHECKING

from pippin.late import late

from .clamping_configs import DCMotorConfig, MaxEffortConfig, PositionBasedConfig
from .config import ActuatorConfig, DelayConfig, JointConfig, Parameter, Uniform, parameter

if TYPE_CHECKING:
    from pippin.assets.actuators.asset_actuators import AssetActuators
    from pippin.assets.actuators.transmissions import Transmissions

    from .clamping import Clamping
    from .clampings import build_dc_motor
    from .drive import TARGETS, DriveActuator
    from .joint_properties import JOINT_PROPERTIES, JointProperties
    from .joints import Axes, lanes_of, refuse_second_simulation
    from .parameters import LaneParameter, Lanes, Parameters
    from .targets import SharedTargets, refuse_assignment

__all__ = [
    "JOINT_PROPERTIES",
    "TARGETS",
    "ActuatorConfig",
    "AssetActuators",
    "Axes",
    "Clamping",
    "DCMotorConfig",
    "DelayConfig",
    "DriveActuator",
    "JointConfig",
    "JointProperties",
    "LaneParameter",
    "Lanes",
    "MaxEffortConfig",
    "Parameter",
    "Parameters",
    "PositionBasedConfig",
    "SharedTargets",
    "Transmissions",
    "Uniform",
    "build_dc_motor",
    "lanes_of",
    "parameter",
    "refuse_assignment",
    "refuse_second_simulation",
]

__getattr__ = late(
    __name__,
    {
        "JOINT_PROPERTIES": ".joint_properties",
        "TARGETS": ".drive",
        "AssetActuators": "pippin.assets.actuators.asset_actuators",
        "Axes": ".joints",
        "Clamping": ".clamping",
        "DriveActuator": ".drive",
        "JointProperties": ".joint_properties",
        "LaneParameter": ".parameters",
        "Lanes": ".parameters",
        "Parameters": ".parameters",
        "SharedTargets": ".targets",
        "Transmissions": "pippin.assets.actuators.transmissions",
        "build_dc_motor": ".clampings",
        "lanes_of": ".joints",
        "refuse_assignment": ".targets",
        "refuse_second_simulation": ".joints",
    },
)
