"""The `[[scene.joints]]`, `[[scene.sites]]` and `[[scene.tendons]]` tables: what ties bodies of a scene together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, min_len, optional
from pippin.validators import finite, non_negative, only_where, ordered, positive, unit_quaternion

from .geometry import Quaternion, Vector3, attributes_field, not_zero, number, orientation, vector


@attrs.frozen(kw_only=True, slots=False)  # a joint of one axis has two bases, and only one may have slots
class AxisConfig:
    """One axis of a joint, along which or about which its child moves."""

    axis: Vector3 = attrs.field(default=(1.0, 0.0, 0.0), validator=[deep_iterable(finite), not_zero])
    """Direction of the axis in the frame of the joint on the parent; its length has no effect."""

    limits: tuple[float, float] | None = attrs.field(default=None, validator=ordered)
    """Lowest and highest position [m or rad]; by default none."""

    limit_ke: float | None = number()
    """Stiffness of the limits [N/m or N·m/rad] (10000)."""

    limit_kd: float | None = number()
    """Damping of the limits [N·s/m or N·m·s/rad] (10)."""

    damping: float | None = number()
    """Passive damping [N·s/m or N·m·s/rad] (0)."""

    stiffness: float | None = number()
    """Stiffness of a passive spring [N/m or N·m/rad] (0)."""

    rest_position: float | None = attrs.field(default=None, validator=optional(finite))
    """Position at which the passive spring is at rest [m or rad] (0)."""

    friction: float | None = number()
    """Dry friction [N or N·m] (0)."""

    armature: float | None = number()
    """Rotor inertia [kg or kg·m²] (0)."""

    effort_limit: float | None = attrs.field(default=None, validator=optional(positive))
    """Largest effort of the joint's drive [N or N·m]; by default none."""

    velocity_limit: float | None = attrs.field(default=None, validator=optional(positive))
    """Largest velocity [m/s or rad/s]; by default none."""


@attrs.frozen(kw_only=True)
class MimicConfig:
    """A joint that follows another one: `position = offset + ratio * position of the other`."""

    of: str = attrs.field(validator=min_len(1))
    """Label of the joint that leads."""

    ratio: float = attrs.field(default=1.0, validator=finite)
    """Change of the position for each unit of the leader's."""

    offset: float = attrs.field(default=0.0, validator=finite)
    """Position while the leader is at zero [m or rad]."""


@attrs.frozen(kw_only=True)
class _JointConfig:
    """Keys of every joint: its two bodies, and its frame on each of them.

    The poses of the bodies in the file are those at position zero. So the frame on the parent follows from the frame on
    the child if it is left out.
    """

    label: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Label of the joint; by default that of the child with `_joint` at the end."""

    child: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Label of the body that the joint moves; needed in `[[scene.joints]]`, and the object itself in its own table."""

    parent: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Label of the body that carries the joint; by default the world."""

    parent_position: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(finite)))
    """Origin of the joint in the frame of the parent [m]; by default where the child's frame has it."""

    parent_rotation: Quaternion | None = attrs.field(
        default=None, validator=optional([deep_iterable(finite), unit_quaternion])
    )
    """Orientation of the joint in the frame of the parent (x, y, z, w); by default as on the child."""

    child_position: Vector3 = vector()
    """Origin of the joint in the frame of the child [m]."""

    child_rotation: Quaternion = orientation()
    """Orientation of the joint in the frame of the child (x, y, z, w)."""

    attributes: Mapping[str, float | tuple[float, ...]] = attributes_field()
    """Custom attributes of the solver for the joint and its axes, by `SOLVER:NAME`: `{ "mujoco:dof_ref" = 0.1 }`."""

    collides: bool | None = None
    """Whether the shapes of the two bodies collide; by default only those of a child of the world."""


@attrs.frozen(kw_only=True)
class FixedJointConfig(_JointConfig):
    """A joint that holds its child."""

    type: Literal["fixed"] = "fixed"
    """The type of the joint."""


@attrs.frozen(kw_only=True)
class _AxisJointConfig(_JointConfig, AxisConfig):
    position: float = attrs.field(default=0.0, validator=finite)
    """Start position [m or rad]."""

    velocity: float = attrs.field(default=0.0, validator=finite)
    """Start velocity [m/s or rad/s]."""

    mimic: MimicConfig | None = None
    """The joint that this one follows; by default none."""


@attrs.frozen(kw_only=True)
class RevoluteJointConfig(_AxisJointConfig):
    """A hinge."""

    type: Literal["revolute"] = "revolute"
    """The type of the joint."""


@attrs.frozen(kw_only=True)
class PrismaticJointConfig(_AxisJointConfig):
    """A slider."""

    type: Literal["prismatic"] = "prismatic"
    """The type of the joint."""


@attrs.frozen(kw_only=True)
class BallJointConfig(_JointConfig):
    """A ball and socket."""

    type: Literal["ball"] = "ball"
    """The type of the joint."""

    rotation: Quaternion = orientation()
    """Start orientation of the child in the frame of the joint (x, y, z, w)."""

    angular_velocity: Vector3 = vector()
    """Start velocity [rad/s], in the frame of the joint on the parent."""

    damping: float | None = number()
    """Passive damping [N·m·s/rad] (0)."""

    friction: float | None = number()
    """Dry friction [N·m] (0)."""

    armature: float | None = number()
    """Rotor inertia [kg·m²] (0)."""


def _one_for_each_axis(instance: Any, attribute: Any, value: tuple[float, ...]) -> None:
    count = len(instance.linear) + len(instance.angular)
    if value and len(value) != count:
        raise ValueError(f"'{attribute.name}' must have one number for each of the {count} axes, got {len(value)}")


@attrs.frozen(kw_only=True)
class D6JointConfig(_JointConfig):
    """A joint of up to three linear and three angular axes."""

    type: Literal["d6"] = "d6"
    """The type of the joint."""

    linear: tuple[AxisConfig, ...] = ()
    """Axes along which the child moves."""

    angular: tuple[AxisConfig, ...] = ()
    """Axes about which the child turns, after the linear ones."""

    positions: tuple[float, ...] = attrs.field(default=(), validator=[deep_iterable(finite), _one_for_each_axis])
    """Start positions of the axes [m or rad]; by default zero."""

    velocities: tuple[float, ...] = attrs.field(default=(), validator=[deep_iterable(finite), _one_for_each_axis])
    """Start velocities of the axes [m/s or rad/s]; by default zero."""


@attrs.frozen(kw_only=True)
class DistanceJointConfig(_JointConfig):
    """A rod or a string of zero mass between two points, about which both bodies turn freely."""

    type: Literal["distance"] = "distance"
    """The type of the joint."""

    lowest: float | None = number()
    """Shortest distance of the two points [m]; by default none."""

    highest: float | None = number()
    """Longest distance of the two points [m]; by default none."""


@attrs.frozen(kw_only=True)
class FreeJointConfig(_JointConfig):
    """A joint that lets its child move freely: what a body has without a joint."""

    type: Literal["free"] = "free"
    """The type of the joint."""


JointConfig = (
    FixedJointConfig
    | RevoluteJointConfig
    | PrismaticJointConfig
    | BallJointConfig
    | D6JointConfig
    | DistanceJointConfig
    | FreeJointConfig
)
"""A joint; its `type` says which."""


_is_roller = only_where(lambda guide: guide.type == "roller", "type = 'roller'")


def _of_roller(default: Any, *validators: Any) -> Any:
    return attrs.field(default=default, validator=[*validators, _is_roller])


@attrs.frozen(kw_only=True)
class SceneSiteConfig:
    """A site: a named frame on a body, which has no mass and no contacts. Sensors and tendons are attached to it."""

    label: str = attrs.field(validator=min_len(1))
    """Label of the site, which no other site of the scene has."""

    body: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Label of the body that carries it, or the last part of this label; by default the world."""

    position: Vector3 = vector()
    """Origin of the site in the frame of the body [m]."""

    rotation: Quaternion = orientation()
    """Orientation of the site in the frame of the body: unit quaternion (x, y, z, w)."""


@attrs.frozen(kw_only=True)
class TendonGuideConfig:
    """A point or a roller that a tendon passes, and the straight span before it."""

    type: Literal["anchor", "pinhole", "roller"] = "anchor"
    """Whether the tendon is fastened at a point (`anchor`), slides through a point (`pinhole`), or runs over a pulley
    (`roller`)."""

    body: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Label of the body that carries the guide, or the last part of this label; by default the world."""

    site: str | None = attrs.field(
        default=None, validator=[optional(min_len(1)), only_where(lambda guide: guide.body is None, "no 'body'")]
    )
    """Label of the site that carries the guide, in place of a body."""

    position: Vector3 = vector()
    """The point, or the centre of the roller, in the frame of the body or the site [m]."""

    axis: Vector3 = attrs.field(default=(0.0, 0.0, 1.0), validator=[deep_iterable(finite), not_zero, _is_roller])
    """Axis of the roller in the frame of the body or the site."""

    radius: float | None = _of_roller(None, optional(positive))
    """Radius of the roller [m]."""

    orientation: Literal[1, -1] = _of_roller(1)
    """Side on which the tendon runs over the roller, by the sign of its turn about the axis."""

    is_dynamic: bool = _of_roller(False)
    """Whether the tendon leaves the roller while its way is straight; not for the first or the last guide, and not for
    two in a row."""

    mu: float = attrs.field(
        default=0.0, validator=[non_negative, only_where(lambda guide: guide.type != "anchor", "a pinhole or a roller")]
    )
    """Friction coefficient: tensions on both sides differ by a factor of at most `exp(mu * angle)`. A large one lets a
    roller turn with the tendon."""

    compliance: float | None = number()
    """Stretch of the span before the guide for each newton of tension [m/N]; by default that of the tendon."""

    damping: float | None = number()
    """Damping of the span before the guide [N·s/m]; by default that of the tendon."""

    rest_length: float | None = number()
    """Length of the span before the guide at rest [m]; by default its length at the start."""

    def __attrs_post_init__(self) -> None:
        if self.type == "roller" and self.radius is None:
            raise ValueError("'radius' is required for type = 'roller'; add it [m]")


def _is_route(instance: Any, attribute: Any, guides: Sequence[TendonGuideConfig]) -> None:
    given = [name for name in ("compliance", "damping", "rest_length") if getattr(guides[0], name) is not None]
    if given:
        raise ValueError(f"'{given[0]}' stands in the first guide, before which there is no span; move it to the next")
    for index, guide in enumerate(guides):
        is_end = index in (0, len(guides) - 1)
        if is_end and (guide.type == "pinhole" or guide.mu):
            raise ValueError(
                f"guide {index} is an end of the tendon, where nothing slides; let it be an anchor, or a roller without"
                " 'mu'"
            )
        if guide.is_dynamic and (is_end or guides[index - 1].is_dynamic):
            raise ValueError(
                f"'is_dynamic' of guide {index} needs fixed parts of the way before and after it; leave it out there"
            )


@attrs.frozen(kw_only=True)
class TendonConfig:
    """A tendon: a cable without mass through guides on bodies, which pulls and never pushes."""

    label: str = attrs.field(validator=min_len(1))
    """Label of the tendon, which no other tendon of the scene has."""

    guides: tuple[TendonGuideConfig, ...] = attrs.field(validator=[min_len(2), _is_route])
    """What it passes, from end to end."""

    compliance: float = attrs.field(default=0.0, validator=non_negative)
    """Stretch of each span for each newton of tension [m/N]. The tendon slides through its guides only if the spans
    stretch a little: by at least about the square of the substep divided by the mass of a load."""

    damping: float = attrs.field(default=0.0, validator=non_negative)
    """Damping of each span [N·s/m]."""

    def __attrs_post_init__(self) -> None:
        for index, (guide, following) in enumerate(pairwise(self.guides), 1):
            compliance = self.compliance if following.compliance is None else following.compliance
            if not compliance and {guide.type, following.type} != {"anchor"}:
                raise ValueError(
                    f"'compliance' of the span before guide {index} is 0, so the tendon could not slide through the"
                    " guide at its end; state a compliance above 0 [m/N], such as 1e-6"
                )
