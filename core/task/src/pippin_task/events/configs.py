"""Configurations of events."""

from __future__ import annotations

import math
from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable
from pippin.validators import finite, fraction, non_negative, only_where, ordered

from pippin_task import EventConfig

Range = tuple[float, float]
"""Lowest and highest value."""

_ZERO: Range = (0.0, 0.0)
_ONE: Range = (1.0, 1.0)


@attrs.frozen(kw_only=True, slots=False)  # so that a configuration may derive from it and from another class
class VectorRanges:
    """Ranges along three axes."""

    _names = ("x", "y", "z")

    x: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range along x."""

    y: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range along y."""

    z: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range along z."""

    @property
    def ends(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The lowest values along, and about, x, y, z; and the highest ones."""
        low, high = zip(*(getattr(self, name) for name in self._names), strict=True)
        return low, high


@attrs.frozen(kw_only=True, slots=False)
class AxesRanges(VectorRanges):
    """Ranges along and about the axes of the world."""

    _names = ("x", "y", "z", "roll", "pitch", "yaw")  # pyrefly: ignore[bad-override]

    roll: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range about x."""

    pitch: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range about y."""

    yaw: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range about z."""


@attrs.frozen(kw_only=True)
class StartConfig(EventConfig):
    """A random start of an episode."""

    when: Literal["reset"] = "reset"
    """Time of the event."""


@attrs.frozen(kw_only=True)
class JointStartConfig(StartConfig):
    """Random initial positions and velocities of joints, around those of the file.

    Position = scale × initial one + uniform + normal number; likewise the velocity. Limits of joints hold.
    """

    implementation = ".states:JointStart"

    joints: tuple[str, ...] = (".*",)
    """Patterns of names of joints or axes; by default all that have one coordinate for each axis."""

    scale: Range = attrs.field(default=_ONE, validator=ordered)
    """Range of the factor of the initial positions."""

    position: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range of the uniform number that is added to positions [rad, m]."""

    position_std: float = attrs.field(default=0.0, validator=non_negative)
    """Standard deviation of the normal number that is added to positions [rad, m]."""

    velocity: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range of the uniform number that is added to velocities [rad/s, m/s]."""

    velocity_std: float = attrs.field(default=0.0, validator=non_negative)
    """Standard deviation of the normal number that is added to velocities [rad/s, m/s]."""


def _is_a_distance(instance: Any, attribute: attrs.Attribute[Any], value: Range | None) -> None:
    if value is not None and not 0.0 <= value[0] < value[1] < math.inf:
        raise ValueError(f"'distance' must be a range [least, most] of distances, got {list(value)}")


@attrs.frozen(kw_only=True)
class JointPointConfig(StartConfig):
    """A random point in the plane of two joints, such as sliders of a goal or of an object.

    Points are drawn in a rectangle until the distance is in its range. After 16 of them, the last one is moved to the
    nearest allowed distance. The two joints are at rest.
    """

    implementation = ".states:JointPoint"

    joints: tuple[str, str]
    """Patterns of the names of the two joints, which match one axis each."""

    centre: tuple[float, float] = attrs.field(default=(0.0, 0.0), validator=deep_iterable(finite))
    """Positions of the joints that the rectangle and the distance count from [rad, m]."""

    first: Range = attrs.field(validator=ordered)
    """Range of the first joint, about the centre [rad, m]."""

    second: Range = attrs.field(validator=ordered)
    """Range of the second joint, likewise."""

    distance: Range | None = attrs.field(default=None, validator=_is_a_distance)
    """Least and largest distance of the point from the centre [rad, m]; by default any."""


@attrs.frozen(kw_only=True)
class RootStartConfig(AxesRanges, StartConfig):
    """Random initial pose and velocity of a free body, around those of the file.

    The ranges are of what is added to the position [m], and of the turn about the body's origin [rad]: roll, then
    pitch, then yaw. The velocity of the file does not turn with the pose.
    """

    implementation = ".states:RootStart"

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""

    velocity: AxesRanges = attrs.field(factory=AxesRanges)
    """Ranges of what is added to the velocity of the centre of mass [m/s], and to the angular velocity [rad/s]."""

    velocity_std: float = attrs.field(default=0.0, validator=non_negative)
    """Standard deviation of a normal number that is added to each component of both velocities [m/s, rad/s]."""


@attrs.frozen(kw_only=True)
class MotionStartConfig(AxesRanges, StartConfig):
    """A start from a motion, in the frame that its command has drawn, and random numbers added to it.

    The ranges are of what is added to the position of the free body [m], and of the turn about its origin [rad]: roll,
    then pitch, then yaw. What is added to a joint leaves it within its limits.
    """

    implementation = ".states:MotionStart"

    command: str
    """Label of the command `motion`."""

    velocity: AxesRanges = attrs.field(factory=AxesRanges)
    """Ranges of what is added to the velocity of the centre of mass [m/s], and to the angular velocity [rad/s]."""

    joint_positions: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range of what is added to the positions of the joints [rad, m]."""

    joint_velocities: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range of what is added to the velocities of the joints [rad/s, m/s]."""

    soft_limits: float = attrs.field(default=1.0, validator=fraction)
    """Share of the range of each joint's limits, about its middle, which holds for what is added."""


@attrs.frozen(kw_only=True)
class ObjectStartConfig(AxesRanges, StartConfig):
    """Random initial pose and velocity of cloth, soft bodies and granular matter, around those of the file.

    The ranges are of what is added to the position [m], and of the turn about the mean of the particles [rad]: roll,
    then pitch, then yaw. Each object has its own draw, and keeps its shape. Its pinned particles move with it, and the
    velocity of the file turns with it.
    """

    implementation = ".states:ObjectStart"

    objects: tuple[str, ...] = (".*",)
    """Patterns of labels of objects with particles; by default all of them."""

    velocity: AxesRanges = attrs.field(factory=AxesRanges)
    """Ranges of what is added to the velocity [m/s], and to the angular one about the mean of the particles [rad/s]."""


@attrs.frozen(kw_only=True)
class RootPushConfig(AxesRanges, EventConfig):
    """A random push from time to time: a jump of the velocity of a free body.

    The ranges are of what is added to the velocity of the centre of mass [m/s], and to the angular velocity [rad/s].
    """

    implementation = ".states:RootPush"

    when: Literal["interval"] = "interval"
    """Time of the event."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""


def _belongs_to_blows(instance: WrenchConfig, attribute: attrs.Attribute[Any], value: Range | None) -> None:
    if (value is not None) != (instance.when == "interval"):
        raise ValueError(f"'duration' needs when = \"interval\", which needs it: got {value} and {instance.when!r}")
    if value is not None and not 0.0 < value[0] <= value[1] < math.inf:
        raise ValueError(f"'duration' must be a range [low, high] above 0: {list(value)}")


@attrs.frozen(kw_only=True)
class WrenchConfig(EventConfig):
    """A random force and torque on each of some bodies: over the whole episode, or a blow from time to time.

    A blow ends after its `duration`, or when the next one begins.
    """

    implementation = ".states:Wrench"
    adds_forces = True

    when: Literal["reset", "interval"] = "reset"
    """Time of the event: at the beginning of each episode, over which the force stays; or after random times."""

    bodies: tuple[str, ...]
    """Patterns of names of bodies; each has its own draw."""

    force: VectorRanges = attrs.field(factory=VectorRanges)
    """Ranges of the force, in axes of the world [N]."""

    torque: VectorRanges = attrs.field(factory=VectorRanges)
    """Ranges of the torque, likewise [N·m]; that of a force beside the centre of mass is added."""

    offset: tuple[float, float, float] | None = attrs.field(default=None, validator=finite)
    """The point at which the force acts, in axes of the body from its origin [m]; by default its centre of mass."""

    duration: Range | None = attrs.field(default=None, validator=_belongs_to_blows)
    """Range of the length of a blow [s], for `when = "interval"`."""

    form: Literal["constant", "half-sine"] = attrs.field(
        default="constant", validator=only_where(lambda event: event.when == "interval", 'when = "interval"')
    )
    """Course of a blow: as drawn all the time, or rising to what was drawn and falling as half a sine."""


def _stands_alone(instance: VariedConfig, attribute: attrs.Attribute[Any], value: Range | None) -> None:
    if value is not None and (instance.scale != _ONE or instance.add != _ZERO):
        raise ValueError("'range' stands in place of 'scale' and 'add'; leave it, or the others, out")


def _fits_the_ranges(instance: VariedConfig, attribute: attrs.Attribute[Any], value: str) -> None:
    if value == "uniform":
        return
    if instance.add != _ZERO:
        raise ValueError("'distribution': a number that is added has no logarithm; use 'scale' or 'range' alone")
    name = "scale" if instance.range is None else "range"
    if (low := getattr(instance, name)[0]) <= 0.0:
        raise ValueError(f"'distribution': the logarithm needs values above 0, and '{name}' begins at {low:g}")


@attrs.frozen(kw_only=True)
class ModelEventConfig(EventConfig):
    """A change of the model, by default once at the start."""

    when: Literal["startup", "reset", "interval"] = "startup"
    """Time of the event: once at the start, at the beginning of each episode, or after random times."""


@attrs.frozen(kw_only=True)
class VariedConfig(ModelEventConfig):
    """A random value: scale × the built value + a number. Or a value of its own, from `range`."""

    scale: Range = attrs.field(default=_ONE, validator=ordered)
    """Range of the factor of the built value."""

    add: Range = attrs.field(default=_ZERO, validator=ordered)
    """Range of what is added, in the unit of the value."""

    range: Range | None = attrs.field(default=None, validator=[ordered, _stands_alone])
    """Range of the value itself, in place of `scale` and `add`."""

    distribution: Literal["uniform", "log-uniform"] = attrs.field(default="uniform", validator=_fits_the_ranges)
    """Whether the value is uniform in its range, or its logarithm is: then 0.1 to 1 has as many draws as 1 to 10."""

    shared: bool = False
    """Whether all chosen parts of a world take one draw; by default each has its own."""


@attrs.frozen(kw_only=True)
class GainsConfig(VariedConfig):
    """Random gains of an actuator group, around those of the file."""

    implementation = ".model:Gains"

    actuator: str
    """Label of the group."""

    gain: str
    """Name of the gain, such as `kp` or `kd`: a parameter of the group, of at least 0."""


@attrs.frozen(kw_only=True)
class JointOffsetsConfig(EventConfig):
    """A constant offset of each joint target, as from a miscalibrated encoder."""

    implementation = ".model:JointOffsets"

    action: str
    """Label of the action."""

    range: Range = attrs.field(validator=ordered)
    """Range of the offset, in the unit of the targets."""


@attrs.frozen(kw_only=True)
class MassConfig(VariedConfig):
    """Random masses of bodies [kg]. Inertias are scaled with them."""

    implementation = ".model:Mass"

    bodies: tuple[str, ...] = (".*",)
    """Patterns of names of bodies."""


@attrs.frozen(kw_only=True)
class VariantsConfig(ModelEventConfig):
    """Other variants of bodies, drawn with equal chances: the shapes and the mass of one of the `variants` of an
    object.
    """

    implementation = ".model:Variants"

    when: Literal["startup", "reset", "interval"] = "reset"
    """Time of the event: once at the start, at the beginning of each episode, or after random times."""

    bodies: tuple[str, ...]
    """Patterns of names of bodies with variants; each has its own draw."""

    variants: tuple[str, ...] = (".*",)
    """Patterns of labels of the variants among which it draws; by default all."""


@attrs.frozen(kw_only=True)
class FrictionConfig(VariedConfig):
    """Random coefficients of friction of the shapes of bodies. The solver combines those of two shapes that touch."""

    implementation = ".model:Friction"

    bodies: tuple[str, ...] = (".*",)
    """Patterns of names of bodies."""

    shapes: tuple[str, ...] = (".*",)
    """Patterns of names of shapes of these bodies that count; by default all that collide."""

    coefficient: Literal["slide", "spin", "roll"] = "slide"
    """What varies: the coefficient of sliding; or that of spinning, or of rolling [m]."""


@attrs.frozen(kw_only=True)
class JointParametersConfig(VariedConfig):
    """A random number of joints, which need no drive. A range in an actuator group draws that of driven joints, too."""

    implementation = ".model:JointParameters"

    parameter: Literal["armature", "friction", "damping", "limit_lower", "limit_upper"]
    """What varies: armature [kg, kg·m²], dry friction [N, N·m], damping [N·s/m, N·m·s/rad], or an end of the range of
    positions [m, rad]."""

    joints: tuple[str, ...] = (".*",)
    """Patterns of names of joints or axes; by default all that have one coordinate for each axis."""


MaterialNumber = Literal[
    "particle_mass",
    "spring_ke",
    "spring_kd",
    "tri_ke",
    "tri_ka",
    "tri_kd",
    "tri_drag",
    "tri_lift",
    "edge_ke",
    "edge_kd",
    "k_mu",
    "k_lambda",
    "k_damp",
]
"""Numbers of cloth, soft bodies and loose particles, by the keys of their tables."""


@attrs.frozen(kw_only=True)
class MaterialConfig(VariedConfig):
    """Random numbers of the material of cloth, soft bodies and loose particles; elements of an object take one draw."""

    implementation = ".model:Material"

    number: MaterialNumber
    """Name of the number, by the key of the object's table, or `particle_mass`, the masses of its particles."""

    objects: tuple[str, ...] = (".*",)
    """Patterns of labels of objects with particles; by default all of them."""


@attrs.frozen(kw_only=True)
class CentreOfMassConfig(VectorRanges, ModelEventConfig):
    """Random centres of mass of bodies: the ranges are of what is added, in axes of the body [m]."""

    implementation = ".model:CentreOfMass"

    bodies: tuple[str, ...] = (".*",)
    """Patterns of names of bodies."""


@attrs.frozen(kw_only=True)
class GravityConfig(VectorRanges, ModelEventConfig):
    """Random gravity: the ranges are of what is added, in axes of the world [m/s²]."""

    implementation = ".model:Gravity"
