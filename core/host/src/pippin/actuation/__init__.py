"""Shared parts of actuator plugins: their joints, and targets → delay → drive → clamping → `joint_f`.

At run time, only this package and the plugins use `newton.actuators`, which Newton calls experimental.
"""

from typing import TYPE_CHECKING

from pippin.late import late

from .config import ActuatorConfig, DelayConfig, JointConfig, Parameter, Uniform, parameter

if TYPE_CHECKING:
    from pippin.assets.actuators.asset_actuators import AssetActuators, Transmissions
    from pippin.devices import backward_kernels

    from .drive import Clamping, DriveActuator
    from .joint_actuator import JointActuator
    from .joints import Axes
    from .parameters import Lanes, Parameters

__all__ = [
    "ActuatorConfig",
    "AssetActuators",
    "Axes",
    "Clamping",
    "DelayConfig",
    "DriveActuator",
    "JointActuator",
    "JointConfig",
    "Lanes",
    "Parameter",
    "Parameters",
    "Transmissions",
    "Uniform",
    "backward_kernels",
    "parameter",
]

__getattr__ = late(__name__)
