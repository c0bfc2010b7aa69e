"""Impedance of joints and of tools by a model of the robot, as Pippin actuators: the settings."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import deep_iterable, ge, in_
from pippin.actuation import ActuatorConfig, Parameter, parameter
from pippin.sensing import FrameConfig
from pippin.validators import finite, non_negative, only_where

__all__ = ["JointImpedanceConfig", "OperationalSpaceConfig"]

Six = tuple[float, float, float, float, float, float]

_gains: list[Any] = [deep_iterable(ge(0.0)), deep_iterable(finite)]
_has_posture = only_where(lambda config: config.posture_kp > 0.0, "posture_kp")


@attrs.frozen(kw_only=True)
class JointImpedanceConfig(ActuatorConfig):
    """Springs and dampers of joints, with the dynamics of the robot compensated.

    effort = M(q) (kp (q* - q) + kd (q̇* - q̇)) + Coriolis and centrifugal effort + gravity + feedforward, with the mass
    matrix M of the robot. Newton's `ControllerJointImpedance` computes it at each physics step.
    """

    implementation = ".actuator:ActuatorJointImpedance"

    kp: Parameter = parameter(minimum=0.0)
    """Stiffness [1/s²], or [N/m or N·m/rad] without `inertia_decoupling`, for all joints or by pattern."""

    kd: Parameter = parameter(minimum=0.0)
    """Damping [1/s], or [N·s/m or N·m·s/rad] without `inertia_decoupling`, for all joints or by pattern."""

    inertia_decoupling: bool = True
    """Whether springs and dampers act through the mass matrix, so that each joint moves as if it were alone."""

    gravity_compensation: bool = True
    """Whether the effort of gravity is added."""

    coriolis_compensation: bool = True
    """Whether Coriolis and centrifugal efforts are added."""


@attrs.frozen(kw_only=True)
class OperationalSpaceConfig(FrameConfig, ActuatorConfig):
    """A spring and a damper at a tool, towards its goal, as efforts of the joints.

    effort = Jᵀ (Λ (kp Δx - kd ẋ) + w) + gravity + feedforward, with the Jacobian J of the tool, its distance Δx and
    angle to the goal, the mass matrix Λ of the tool, and a `wrench` w. Newton's `ControllerOperationalSpace` computes
    it at each physics step.
    """

    implementation = ".actuator:ActuatorOperationalSpace"

    kp: float | Six = attrs.field(validator=[finite, lambda *given: _each_non_negative(*given)])
    """Stiffness along x, y, z of the world and about them [1/s²], or [N/m, N·m/rad] without `inertia_decoupling`."""

    kd: float | Six = attrs.field(validator=[finite, lambda *given: _each_non_negative(*given)])
    """Damping, likewise [1/s], or [N·s/m, N·m·s/rad]."""

    inertia_decoupling: bool = True
    """Whether the spring acts through the mass matrix of the tool, so that it moves as if it were a point mass."""

    gravity_compensation: bool = True
    """Whether the effort of gravity is added."""

    wrench_axes: Six = attrs.field(default=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), validator=deep_iterable(in_((0.0, 1.0))))
    """Axes, x, y, z of the world and about them, along which the tool exerts `wrench` in place of the spring: 1, or
    else 0."""

    wrench: Six = attrs.field(
        default=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        validator=[finite, only_where(lambda config: any(config.wrench_axes), "wrench_axes")],
    )
    """Force and torque that the tool exerts on its surroundings along `wrench_axes` [N, N·m], in the world."""

    posture_kp: float = attrs.field(default=0.0, validator=non_negative)
    """Stiffness of motion that leaves the tool alone, towards the start position of the joints; it needs more than six
    of them. Units as those of `kp`."""

    posture_kd: float = attrs.field(default=0.0, validator=[non_negative, _has_posture])
    """Damping of this motion."""


def _each_non_negative(instance: Any, attribute: Any, value: float | Six) -> None:
    for number in value if isinstance(value, tuple) else (value,):
        if number < 0.0:
            raise ValueError(f"'{attribute.name}' must be >= 0: {number:g}")
