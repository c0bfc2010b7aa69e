"""Keys of every motion: what moves, along or about what, and when; and configurations without driving motions."""

from __future__ import annotations

from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, min_len, optional
from pippin.config import SimulationConfig
from pippin.config.geometry import SelectionConfig, Vector3, not_zero
from pippin.validators import finite, non_negative, only_where

Subject = Literal["bodies", "particles", "joints", "actuator", "goal_of", "force_on"]

_NAMED: tuple[Subject, ...] = ("bodies", "particles", "force_on", "actuator", "goal_of")
"""Those that are None if something else moves."""

_is_placed = only_where(
    lambda motion: motion.subject not in ("joints", "actuator"), "'bodies', 'particles', 'goal_of' or 'force_on'"
)
moves_joints = only_where(lambda motion: motion.subject in ("joints", "actuator"), "'joints' or 'actuator'")


def _direction() -> Any:
    return attrs.field(default=None, validator=[optional([deep_iterable(finite), not_zero]), _is_placed])


def _later(instance: Any, attribute: Any, value: float | None) -> None:
    if value is not None and value <= instance.start:
        raise ValueError(f"'{attribute.name}' must be later than 'start' ({instance.start:g}): {value:g}")


@attrs.frozen(kw_only=True, slots=False)
class MotionConfig:
    """Keys of every motion: what moves, along or about what, and when.

    Values are numbers with `along`, `about`, `joints` or `actuator`. Otherwise they have three components: the
    displacement [m], or the force [N], in the world. Those of bodies and goals may have seven: position and orientation
    (x, y, z, qx, qy, qz, qw) in the world.
    """

    bodies: SelectionConfig | None = None
    """Kinematic bodies that move, none of which hangs on a joint of fewer than six degrees of freedom."""

    particles: SelectionConfig | None = None
    """Pinned particles that move."""

    joints: tuple[str, ...] = ()
    """Patterns of the labels of hinges and sliders of kinematic bodies that move; beside `actuator`, of its axes."""

    actuator: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Label of an actuator group: the motion writes its targets at the start of each control step."""

    goal_of: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Label of a controller, or of an actuator group with goals: the motion writes the goals of its tools at the start
    of each control step from `start` to `end`. Another motion may write them before or after: one for each phase."""

    relative_to: str | None = attrs.field(
        default=None, validator=only_where(lambda motion: motion.goal_of, "'goal_of'")
    )
    """Label of a body in whose frame the values of goals are: the frame as it is when the motion begins. Three
    components are then a position."""

    force_on: SelectionConfig | None = None
    """Bodies on which a force acts, or with `about` a torque. None acts before `start` and after `end`."""

    target: Literal["position", "velocity", "effort"] = attrs.field(
        default="position", validator=only_where(lambda motion: motion.actuator, "'actuator'")
    )
    """The targets of the actuator that are written: `position_targets`, `velocity_targets` or `feedforward`."""

    along: tuple[float, float, float] | None = _direction()
    """Direction of the displacement [m] or of the force [N]; its length has no effect."""

    about: tuple[float, float, float] | None = _direction()
    """Axis of the turn [rad] or of the torque [N·m]; its length has no effect."""

    point: Vector3 | None = attrs.field(default=None, validator=[optional(deep_iterable(finite)), _is_placed])
    """A point of the axis [m]; by default the origin of each body, or the centre of the particles. Of a force: where it
    acts, in the frame of the body; by default at its centre of mass."""

    frame: Literal["world", "own"] = attrs.field(
        default="world",
        validator=only_where(lambda motion: motion.bodies or motion.force_on, "'bodies' or 'force_on'"),
    )
    """Frame of `along`, `about` and `point`: the world, or each body's own at its start."""

    from_start: bool = attrs.field(default=False, validator=moves_joints)
    """Whether values are added to the start position of each joint, or to the start target of each axis."""

    start: float = attrs.field(default=0.0, validator=non_negative)
    """Time since the reset of the world at which the motion begins [s]."""

    end: float | None = attrs.field(default=None, validator=[optional(finite), _later])
    """Time at which the motion ends, and what moved stands still [s]; by default never."""

    def __attrs_post_init__(self) -> None:
        given: list[str] = [name for name in _NAMED if getattr(self, name) is not None]
        given += ["joints"] if self.joints and self.actuator is None else []
        if len(given) != 1:
            got = " and ".join(f"'{name}'" for name in given) or "none"
            raise ValueError(
                "expected one of 'bodies', 'particles', 'joints', 'actuator', 'goal_of' and 'force_on', got"
                f" {got}; name what moves, and make a motion for each"
            )
        if self.along is not None and self.about is not None:
            raise ValueError("'along' stands beside 'about'; make a motion for each")
        if self.point is not None and self.about is None and not (self.force_on and self.along):
            raise ValueError("'point' needs 'about', or a force 'along' a direction; leave it out otherwise")

    @property
    def subject(self) -> Subject:
        """The key that names what moves."""
        return next((name for name in _NAMED if getattr(self, name) is not None), "joints")

    @property
    def is_scalar(self) -> bool:
        """Whether each of the values is a number for a joint, a direction or an axis."""
        return self.subject in ("joints", "actuator") or self.along is not None or self.about is not None


_DRIVING = ("actuator", "goal_of")
"""Keys of motions that write targets or goals."""


def undriven(config: SimulationConfig) -> SimulationConfig:
    """Return a configuration without the motions that write targets or goals; those of bodies stay.

    Args:
        config: The configuration, in which somebody else is to act.
    """
    kept = {
        label: choice
        for label, choice in config.motions.items()
        if all(getattr(choice.config, key, None) is None for key in _DRIVING)
    }
    return config.with_tables(motions=kept)
