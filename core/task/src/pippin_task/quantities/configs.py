"""Configurations of quantities."""

from __future__ import annotations

from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, ge, min_len, optional
from pippin.motions import SelectionConfig
from pippin.validators import finite, only_where, positive

from pippin_task.config import not_empty


@attrs.frozen(kw_only=True)
class LastActionConfig:
    """The action of the control step that has just ended."""

    implementation = ".readings:LastAction"


@attrs.frozen(kw_only=True)
class ActionRateConfig:
    """The change of the action over a control step."""

    implementation = ".readings:ActionRate"


@attrs.frozen(kw_only=True)
class ActionAccelerationConfig:
    """The change of the change of the action, from one control step to the next."""

    implementation = ".readings:ActionAcceleration"


@attrs.frozen(kw_only=True)
class RemainingTimeConfig:
    """The time that is left of an episode, until `task.episode_length`."""

    implementation = ".readings:RemainingTime"

    share: bool = False
    """Whether it is told as a share of the episode, from 1 to 0, and not in seconds."""


@attrs.frozen(kw_only=True)
class CommandValueConfig:
    """The numbers of a command."""

    implementation = ".readings:CommandValue"

    command: str
    """Label of the command."""

    form: Literal["numbers", "speed"] = "numbers"
    """The numbers, or one number for how much a velocity command asks: the length of x and y + the size of the yaw
    rate, for a gate such as `beyond`."""


@attrs.frozen(kw_only=True)
class JointVelocitiesConfig:
    """Velocities of joints."""

    implementation = ".joints:JointVelocities"

    joints: tuple[str, ...] = (".*",)
    """Patterns of names of joints or axes; by default all that have one coordinate for each axis."""


class JointAccelerationsConfig(JointVelocitiesConfig):
    """Accelerations of joints."""

    implementation = ".joints:JointAccelerations"


@attrs.frozen(kw_only=True)
class JointPositionsConfig(JointVelocitiesConfig):
    """Positions of joints [rad, m]."""

    implementation = ".joints:JointPositions"

    relative: bool = False
    """Whether the positions count from the initial ones."""

    normalised: bool = False
    """Whether the range of each joint's limits is mapped to the one from -1 to 1; all joints must have limits."""

    form: Literal["angle", "cosine", "sine"] = "angle"
    """What is told of an angle; a cosine and a sine do not jump where a hinge has turned once."""

    offsets: str | None = None
    """Label of an event `joint-offsets`: the positions are those that the wrong encoders read. Where the event puts a
    target off by e, the encoder reads q - e, so that the servo goes e too far."""

    def __attrs_post_init__(self) -> None:
        if self.normalised and self.form != "angle":
            raise ValueError("'normalised' positions are no angles; leave out 'form' or 'normalised'")
        if self.relative and self.normalised:
            raise ValueError("'relative' and 'normalised' exclude each other; choose one")


@attrs.frozen(kw_only=True)
class JointEffortsConfig:
    """A quantity of joints that actuators drive."""

    implementation = ".joints:JointEfforts"

    actuators: tuple[str, ...] = ()
    """Labels of the actuator groups; by default all. Each must tell its applied effort, and be in all worlds."""

    joints: tuple[str, ...] = (".*",)
    """Patterns of names of joints or axes that these groups drive; by default all."""


class JointPowerConfig(JointEffortsConfig):
    """The power of joints that actuators drive."""

    implementation = ".joints:JointPower"


@attrs.frozen(kw_only=True)
class RootConfig:
    """A quantity of one body."""

    body: str | None = None
    """Pattern of the body's name, which must match one body; by default the first body of a world."""


class RootHeightConfig(RootConfig):
    """The height of one body."""

    implementation = ".bodies:RootHeight"


class RootPositionConfig(RootConfig):
    """The position of one body."""

    implementation = ".bodies:RootPosition"


@attrs.frozen(kw_only=True)
class RootOrientationConfig(RootConfig):
    """The orientation of one body, as a quaternion."""

    implementation = ".bodies:RootOrientation"

    order: Literal["xyzw", "wxyz"] = "xyzw"
    """Order of the components: Newton's, or that of MuJoCo and Isaac Lab."""

    unique: bool = True
    """Whether w is made positive: a quaternion and its negative are the same orientation. MuJoCo does not do this."""


@attrs.frozen(kw_only=True)
class RootAngularVelocityConfig(RootConfig):
    """The angular velocity of one body."""

    implementation = ".bodies:RootAngularVelocity"

    frame: Literal["world", "body", "yaw"] = "world"
    """Frame of the components: of the world; of the body; or of the world, turned about z by the body's heading."""


@attrs.frozen(kw_only=True)
class RootLinearVelocityConfig(RootAngularVelocityConfig):
    """The velocity of one body."""

    implementation = ".bodies:RootLinearVelocity"

    point: Literal["centre-of-mass", "origin"] = "centre-of-mass"
    """Point of the body that has the velocity; MuJoCo's free joints have that of the origin."""

    offset: tuple[float, float, float] | None = attrs.field(default=None, validator=finite)
    """The point itself, in axes of the body from its origin [m], such as that of an IMU; in place of `point`."""

    def __attrs_post_init__(self) -> None:
        if self.offset is not None and self.point == "origin":
            raise ValueError("'offset' counts from the origin, and stands in place of 'point'; leave one of them out")


class ProjectedGravityConfig(RootConfig):
    """The direction of gravity in one body."""

    implementation = ".bodies:ProjectedGravity"


@attrs.frozen(kw_only=True)
class BodiesConfig:
    """A quantity of several bodies."""

    bodies: tuple[str, ...]
    """Patterns of the names of bodies."""


@attrs.frozen(kw_only=True)
class BodyPositionsConfig(BodiesConfig):
    """The places of several bodies."""

    implementation = ".bodies:BodyPositions"

    reference: str | None = None
    """Pattern of the name of the body in whose frame they are; by default they are in the world."""


@attrs.frozen(kw_only=True)
class BodyRotationsConfig(BodyPositionsConfig):
    """The orientations of several bodies, by the first two columns of their rotation matrices."""

    implementation = ".bodies:BodyRotations"

    order: Literal["columns", "rows"] = "columns"
    """Order of the six numbers: column after column, or row after row, as mjlab and Isaac Lab have them."""


class BodyVariantsConfig(BodiesConfig):
    """The variants that bodies have: for each variant of a body 1 if the body has it, and else 0."""

    implementation = ".bodies:BodyVariants"


@attrs.frozen(kw_only=True)
class RelativePositionConfig(RootConfig):
    """The position of a point of one body beside a point of another one."""

    implementation = ".bodies:RelativePosition"

    offset: tuple[float, float, float] = attrs.field(default=(0.0, 0.0, 0.0), validator=finite)
    """The point, in axes of the body from its origin [m]."""

    reference: str | None = None
    """Pattern of the name of the other body; by default the point is beside the origin of the world."""

    reference_offset: tuple[float, float, float] = attrs.field(default=(0.0, 0.0, 0.0), validator=finite)
    """The point of the other body, in its axes from its origin [m]; or the point in the world."""

    frame: Literal["world", "reference", "yaw"] = "world"
    """Axes of the components: those of the world; of the other body; or of the world, turned about z by its heading."""

    def __attrs_post_init__(self) -> None:
        if self.reference is None and self.frame != "world":
            raise ValueError(f"'frame' = {self.frame!r} needs a 'reference'")


@attrs.frozen(kw_only=True)
class PoseErrorConfig(RootConfig):
    """The pose of a body minus that of a command, in the world."""

    implementation = ".bodies:PoseError"

    command: str
    """Label of the command `pose`."""

    what: Literal["position", "rotation"] = "position"
    """The difference of positions [m]; or the rotation vector from the command's orientation to the body's [rad]."""

    offset: tuple[float, float, float] = attrs.field(default=(0.0, 0.0, 0.0), validator=finite)
    """The point whose position counts, in axes of the body from its origin [m]."""

    reference: str | None = None
    """Pattern of the name of the body in whose frame the command is; by default the command is in the world."""


@attrs.frozen(kw_only=True)
class MassCentreConfig:
    """The centre of mass of bodies."""

    implementation = ".bodies:MassCentre"

    bodies: tuple[str, ...] = (".*",)
    """Patterns of the names of bodies; by default all of a world."""


class AngularMomentumConfig(MassCentreConfig):
    """The angular momentum of bodies about their centre of mass."""

    implementation = ".bodies:AngularMomentum"


class MassCentreRateConfig(MassCentreConfig):
    """The change of the centre of mass of bodies over a control step."""

    implementation = ".bodies:MassCentreRate"


@attrs.frozen(kw_only=True)
class PartsPositionConfig:
    """The mean position of particles or of the origins of bodies."""

    implementation = ".bodies:PartsPosition"

    parts: SelectionConfig
    """Particles of objects, or bodies."""


class PartsVelocityConfig(PartsPositionConfig):
    """The mean velocity of particles or of the centres of mass of bodies."""

    implementation = ".bodies:PartsVelocity"


class DisplacementRateConfig(RootConfig):
    """The change of the position of one body over a control step."""

    implementation = ".bodies:DisplacementRate"


@attrs.frozen(kw_only=True)
class HeadingToConfig(RootConfig):
    """The direction from a body to a point."""

    implementation = ".bodies:HeadingTo"

    target: tuple[float, float] = attrs.field(validator=finite)
    """Point in the world, x and y [m]."""


def _is_a_point(instance: Any, attribute: attrs.Attribute[Any], value: tuple[float, ...]) -> None:
    if len(value) not in (2, 3):
        raise ValueError(f"'target' must be a point of 2 or 3 numbers, got {len(value)}")
    finite(instance, attribute, value)


@attrs.frozen(kw_only=True)
class ProgressRateConfig(RootConfig):
    """The progress of a body towards a point."""

    implementation = ".bodies:ProgressRate"

    target: tuple[float, ...] = attrs.field(validator=_is_a_point)
    """Point in the world [m]: x and y for the distance seen from above, or x, y and z."""


@attrs.frozen(kw_only=True)
class SensorReadingConfig:
    """An output of a sensor."""

    implementation = ".readings:SensorReading"

    sensor: str
    """Label of the sensor, which must be in all worlds."""

    output: str
    """Name of the output; true and false count as 1 and 0."""

    form: Literal["numbers", "signed-log"] = "numbers"
    """The numbers as they are; or sign(x) · ln(1 + abs(x)), which lets a network see small and large forces."""


def _belongs_to_depth(instance: Any, attribute: attrs.Attribute[Any], value: float | None) -> None:
    if (value is None) == (instance.output in ("depth", "distance")):
        raise ValueError(f"'{attribute.name}' belongs to depth and distance, which need it: got {value}")


@attrs.frozen(kw_only=True)
class ImageConfig:
    """An image of a camera, each number from 0 to 1."""

    implementation = ".readings:ImageReading"

    sensor: str
    """Label of a `camera`, which must be in all worlds, once in each."""

    output: Literal["color", "albedo", "depth", "distance"] = "color"
    """Name of the output: red, green and blue, or one channel."""

    channels: Literal["first", "last"] = "first"
    """Order of the numbers: channels, rows, columns, as PyTorch has images; or rows, columns, channels."""

    far: float | None = attrs.field(default=None, validator=[optional(positive), _belongs_to_depth])
    """Depth or distance that counts as 1, as all beyond it do [m]."""


@attrs.frozen(kw_only=True)
class ViewReadingConfig:
    """A quantity of a view."""

    implementation = ".readings:ViewReading"

    name: str
    """Name of the quantity: `root_transforms` for `get_root_transforms`."""

    pattern: str
    """Pattern of the rows, as the view takes it: a path with `*` and `**`; as many must match in each world."""

    rows: Literal["articulations", "rigid-bodies"] = "articulations"
    """Kind of the rows."""


@attrs.frozen(kw_only=True)
class HeightScanConfig:
    """Heights of sites above what their rays meet, z of the site − z of the point − offset; one for each ray [m]."""

    implementation = ".readings:HeightScan"

    sensor: str
    """Label of a `ray-caster`, which must be in all worlds."""

    offset: float = attrs.field(default=0.0, validator=finite)
    """Height that is subtracted, such as that at which the site is while the robot stands [m]."""

    no_hit: float = attrs.field(default=1.0, validator=finite)
    """Value for a ray that meets nothing [m]."""


@attrs.frozen(kw_only=True)
class HeightOverGroundConfig(HeightScanConfig):
    """Heights of a sensor's sites above the ground: for each site one number of what `height-scan` has for its rays."""

    implementation = ".readings:HeightOverGround"

    reduction: Literal["mean", "least", "most"] = "mean"
    """What counts of several rays: their mean, the least height, or the most."""

    clip: tuple[float, float] | None = attrs.field(default=None, validator=not_empty)
    """Lowest and highest height [m]. A sole that presses is a little below the ground: let the rays start above it, by
    `start_height` of the grid, or they meet nothing."""


@attrs.frozen(kw_only=True)
class GroundNormalConfig(RootConfig):
    """The normal of the ground below a body, in its axes: (0, 0, 1) if it is parallel to the ground. The ground is the
    plane with the least squared distances from what rays meet; it is level if they span none.
    """

    implementation = ".readings:GroundNormal"

    sensor: str
    """Label of a `ray-caster`, which must be in all worlds."""


def _is_ahead_of_poses(instance: Any, attribute: attrs.Attribute[Any], value: tuple[int, ...]) -> None:
    if value != (0,) and instance.form != "pose":
        raise ValueError(f"'{attribute.name}' needs form = \"pose\": only the present frame has an error")


@attrs.frozen(kw_only=True)
class OfMotionConfig:
    """A quantity of a motion in the frame that its command wants after the next control step.

    At the end of a control step, when rewards, terminations and metrics read it, that is the frame of the present
    state.
    """

    command: str
    """Label of the command `motion`."""

    ahead: tuple[int, ...] = attrs.field(default=(0,), validator=[min_len(1), deep_iterable(ge(0)), _is_ahead_of_poses])
    """Frames after that one, each in turn, for `form = "pose"`: `[1, 5, 10]` shows what comes."""


@attrs.frozen(kw_only=True)
class MotionJointsConfig(OfMotionConfig):
    """The joints of a motion, or what the robot differs from them."""

    implementation = ".motion:MotionJoints"

    what: Literal["position", "velocity"] = "position"
    """What of the joints."""

    form: Literal["error", "pose"] = "error"
    """The robot's minus those of the motion; or those of the motion."""


@attrs.frozen(kw_only=True)
class MotionAnchorConfig(OfMotionConfig):
    """The anchor of a motion, or how far the robot's is from it."""

    implementation = ".motion:MotionAnchor"

    what: Literal["position", "rotation", "linear-velocity", "angular-velocity", "gravity"] = "position"
    """What of the body: its origin, its orientation, a velocity, or the direction of gravity in it."""

    form: Literal["error", "pose", "distance"] = "error"
    """The robot's minus that of the motion, in the world; that of the motion, in the frame of the robot's anchor; or
    the length of the error. An error of rotation is a rotation vector, and its pose the first two columns of the
    matrix."""

    order: Literal["columns", "rows"] = "columns"
    """Order of the six numbers of a pose's rotation, as for `body-rotations`."""

    point: Literal["centre-of-mass", "origin"] = "centre-of-mass"
    """Point of the bodies that has the linear velocity; that of mjlab's and Isaac Lab's links is the origin."""

    def __attrs_post_init__(self) -> None:
        if self.what == "gravity" and self.form == "pose":
            raise ValueError("'what' = \"gravity\" has no pose; choose another form")


@attrs.frozen(kw_only=True)
class MotionBodiesConfig(OfMotionConfig):
    """The bodies of a motion, or how far those of the robot are from them."""

    implementation = ".motion:MotionBodies"

    bodies: tuple[str, ...] = (".*",)
    """Patterns of the names of bodies of the clip; by default all."""

    what: Literal["position", "rotation", "linear-velocity", "angular-velocity"] = "position"
    """What of the bodies: origins, orientations, velocities of centres of mass, or angular velocities."""

    form: Literal["error", "pose", "distance"] = "error"
    """The robot's minus those of the motion, in the world; those of the motion, in the frame of the robot's anchor; or
    the mean of the lengths of the errors, one number. Errors of rotation are rotation vectors, and poses the first two
    columns of the matrix."""

    frame: Literal["anchor", "world"] = attrs.field(
        default="anchor", validator=only_where(lambda quantity: quantity.form != "pose", "an error or a distance")
    )
    """Whether the motion is moved along x and y and turned about z first, so that its anchor is over the robot's; or
    compared where it is."""

    order: Literal["columns", "rows"] = "columns"
    """Order of the six numbers of a pose's rotation, as for `body-rotations`."""

    point: Literal["centre-of-mass", "origin"] = "centre-of-mass"
    """Point of the bodies that has the linear velocity; that of mjlab's and Isaac Lab's links is the origin."""


@attrs.frozen(kw_only=True)
class PhaseConfig:
    """Cosine and sine of a phase: of a motion, whose whole length is one turn; or of a frequency."""

    implementation = ".motion:Phase"

    command: str | None = None
    """Label of a command `motion`."""

    frequency: float | None = attrs.field(default=None, validator=optional(positive))
    """Frequency [Hz], in place of a motion: the phase is zero at the start of an episode."""

    offsets: tuple[float, ...] = attrs.field(default=(0.0,), validator=[min_len(1), finite])
    """What is added to the phase [rad], each in turn: `[0.0, 3.14159]` for two legs that alternate."""

    def __attrs_post_init__(self) -> None:
        if (self.command is None) == (self.frequency is None):
            raise ValueError("'command' and 'frequency' exclude each other; give one of them")
