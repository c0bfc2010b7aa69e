"""Settings of controllers: the keys that all have, and those of the built-in ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, ge, min_len
from pippin.sensing import FrameConfig
from pippin.validators import finite, non_negative, only_where, positive


@attrs.frozen(kw_only=True, slots=False)
class ControllerConfig(FrameConfig):
    """Keys of every controller: whose targets it writes, and which frame, the tool, follows the goal."""

    actuator: str = attrs.field(validator=min_len(1))
    """Label of the actuator group whose targets the controller writes at the start of each control step."""

    joints: tuple[str, ...] = ()
    """Patterns of the axes of the group that it controls; by default all of them."""


Method = Literal["damped-least-squares", "adaptive-damping", "pseudo-inverse", "truncated-svd", "transpose"]

Six = tuple[float, float, float, float, float, float]


def _of(*methods: Method) -> Callable[[Any, Any, Any], None]:
    return only_where(lambda config: config.method in methods, " or ".join(f'method = "{each}"' for each in methods))


def _refuse_no_axis(instance: Any, attribute: Any, value: Six) -> None:
    if not any(value):
        raise ValueError(f"'{attribute.name}' must have a weight above 0, got only zeros")


def _above_minimum(instance: Any, attribute: Any, value: float) -> None:
    if value <= instance.damping_min:
        raise ValueError(f"'{attribute.name}' must be > damping_min ({instance.damping_min:g}): {value:g}")


_weights = [deep_iterable(ge(0.0)), deep_iterable(finite)]


@attrs.frozen(kw_only=True)
class DifferentialIKConfig(ControllerConfig):
    """Joint velocities that lead each tool to its goal by its Jacobian; the commanded positions follow from them.

    The error of the pose decays as exp(-`bandwidth` t), far from singular poses. Newton's `ControllerDifferentialIK`
    computes the velocities.
    """

    implementation = ".inverse_kinematics:DifferentialIK"

    bandwidth: float = attrs.field(default=10.0, validator=positive)
    """Rate at which the error of the pose decays [1/s]; less than one per control step, for a stable law."""

    method: Method = "damped-least-squares"
    """The inverse of the Jacobian: with a constant damping; with one that grows towards singular poses; without any;
    without the directions of small singular values; or its transpose, which decays slowly."""

    damping: float = attrs.field(default=0.05, validator=[non_negative, _of("damped-least-squares")])
    """Damping of `damped-least-squares`: larger ones are slower, and calmer at singular poses."""

    damping_min: float = attrs.field(default=0.01, validator=[non_negative, _of("adaptive-damping")])
    """Damping of `adaptive-damping` far from singular poses."""

    damping_max: float = attrs.field(default=0.5, validator=[positive, _above_minimum, _of("adaptive-damping")])
    """Damping of `adaptive-damping` at a singular pose."""

    threshold: float = attrs.field(default=0.05, validator=[positive, _of("adaptive-damping", "truncated-svd")])
    """Smallest singular value of the Jacobian below which `adaptive-damping` damps more, and `truncated-svd` drops a
    direction."""

    axis_weights: Six = attrs.field(default=(1.0, 1.0, 1.0, 1.0, 1.0, 1.0), validator=[*_weights, _refuse_no_axis])
    """Weights of the error along the axes x, y, z of the world, and of that about them; an axis with 0 is left free."""

    feedback: Literal["commanded", "measured"] = "commanded"
    """The positions from which the next ones follow: those commanded, so that a load of the drives leaves the law
    alone, or those of the joints."""

    posture_stiffness: float = attrs.field(default=0.0, validator=non_negative)
    """Rate at which free motion of the joints leads to their position at the start [1/s], which moves no tool."""

    limit_margin: float = attrs.field(
        default=0.1, validator=[positive, only_where(lambda config: config.limit_gain > 0.0, "limit_gain")]
    )
    """Distance from a joint's limit within which `limit_gain` acts [m or rad]."""

    limit_gain: float = attrs.field(default=0.0, validator=non_negative)
    """Rate at which free motion of the joints leads away from their limits [1/s]; 0 avoids none."""


@attrs.frozen(kw_only=True)
class IKConfig(ControllerConfig):
    """Joint positions at which each tool is at its goal, searched anew in each control step from the last ones.

    Newton's `IKSolver` searches by the method of Levenberg and Marquardt, for all worlds at once. The worlds must have
    the same robot.
    """

    implementation = ".inverse_kinematics:InverseKinematics"

    iterations: int = attrs.field(default=16, validator=ge(1))
    """Iterations of a control step."""

    position_weight: float = attrs.field(default=1.0, validator=non_negative)
    """Weight of the distance to the goal [1/m]; 0 leaves the place free."""

    rotation_weight: float = attrs.field(default=1.0, validator=non_negative)
    """Weight of the angle to the goal [1/rad]; 0 leaves the orientation free."""

    limit_weight: float = attrs.field(default=10.0, validator=non_negative)
    """Weight of the distance of a joint beyond its limit [1/m or 1/rad]; 0 searches without limits."""

    damping: float = attrs.field(default=0.1, validator=positive)
    """Damping of the first iteration of each control step."""

    def __attrs_post_init__(self) -> None:
        if not self.position_weight and not self.rotation_weight:
            raise ValueError(
                "'position_weight' and 'rotation_weight' are both 0, so that no goal acts; set one of them"
            )
