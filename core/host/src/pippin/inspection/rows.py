"""Contents of a robot file: rows of one body, joint axis, shape, site, actuator, sensor, camera or keyframe each.

The metadata of a field are its heading in a table, with the unit; a field without a heading is only in the JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs


def _column(heading: str, nothing: Any = None) -> Any:
    return attrs.field(metadata={"heading": heading, "nothing": nothing})


def heading_of(field: attrs.Attribute[Any]) -> str | None:
    """Return the heading of a field's column; None if a table does not show it."""
    return field.metadata.get("heading")


def is_nothing(field: attrs.Attribute[Any], value: Any) -> bool:
    """Tell whether a value means that there is none, so that its cell in a table is empty."""
    return value is None or value == field.metadata["nothing"]


@attrs.frozen(kw_only=True)
class BodyRow:
    """A body."""

    name: str = _column("body")
    parent: str = _column("parent")
    mass: float = _column("mass [kg]")
    centre_of_mass: tuple[float, ...] = _column("centre of mass [m]")
    """In the body's frame."""
    label: str


@attrs.frozen(kw_only=True)
class JointRow:
    """An axis of a joint; or a whole joint, if its axes have no coordinate of their own."""

    name: str = _column("joint")
    type: str = _column("type")
    body: str = _column("body")
    """The body that the joint moves."""
    axis: tuple[float, ...] | None = _column("axis")
    """Direction in the joint's frame."""
    lower: float | None = _column("lower [m, rad]")
    """None if there is no limit, as for `upper`, `effort_limit` and `velocity_limit`."""
    upper: float | None = _column("upper")
    start: tuple[float, ...] = _column("start")
    """Coordinates at the start [m or rad]; of a free joint a position and a unit quaternion (x, y, z, w)."""
    drive: str = _column("drive", nothing="none")
    """Targets of the asset's own drive: position, velocity or position_velocity; none without gains."""
    kp: float = _column("kp [N/m, N·m/rad]", nothing=0.0)
    kd: float = _column("kd", nothing=0.0)
    """Damping of the drive [N·s/m or N·m·s/rad]."""
    damping: float = _column("damping", nothing=0.0)
    """Damping of the joint itself [N·s/m or N·m·s/rad]."""
    armature: float = _column("armature [kg, kg·m²]", nothing=0.0)
    friction: float = _column("friction [N, N·m]", nothing=0.0)
    effort_limit: float | None = _column("effort limit")
    """Largest effort of the drive [N or N·m]."""
    velocity_limit: float | None = _column("velocity limit [m/s, rad/s]")
    label: str


@attrs.frozen(kw_only=True)
class ShapeRow:
    """A shape of a body or of the world."""

    name: str = _column("shape")
    body: str = _column("body")
    type: str = _column("type")
    size: tuple[float, ...] = _column("radius, half lengths [m]")
    """By type: a radius; a radius and a half length; or half lengths along x, y and z, for a mesh of its bounding box.
    Empty for an infinite plane."""
    use: str = _column("use")
    """collides, or visual."""
    label: str


@attrs.frozen(kw_only=True)
class SiteRow:
    """A site, a frame on a body."""

    name: str = _column("site")
    body: str = _column("body")
    position: tuple[float, ...] = _column("position [m]")
    rotation: tuple[float, ...] = _column("rotation (x, y, z, w)")
    label: str


@attrs.frozen(kw_only=True)
class ActuatorRow:
    """An actuator of the file."""

    name: str = _column("actuator")
    type: str = _column("type")
    target: str = _column("drives")
    gear: float | None = _column("gear", nothing=1.0)
    control_range: tuple[float, float] | None = _column("control range")
    """In the unit of the control, which depends on the type; None if there is none."""
    effort_range: tuple[float, float] | None = _column("effort range [N, N·m]")


@attrs.frozen(kw_only=True)
class SensorRow:
    """A sensor of the file, which Pippin does not simulate, and what measures the same."""

    name: str = _column("sensor")
    type: str = _column("type")
    target: str = _column("of")
    alternative: str = _column("in Pippin")
    """The beginning of a `[sensors.*]` table; empty if there is none."""


@attrs.frozen(kw_only=True)
class CameraRow:
    """A camera of the file."""

    name: str = _column("camera")
    body: str = _column("body")
    position: tuple[float, ...] = _column("position [m]")
    rotation: tuple[float, ...] = _column("rotation (x, y, z, w)")
    vertical_fov: float = _column("vertical_fov [rad]")


@attrs.frozen(kw_only=True)
class KeyframeRow:
    """A keyframe of the file."""

    name: str = _column("keyframe")
    positions: Mapping[str, tuple[float, ...]] = _column("positions [m, rad]")
    """By the names of the file's joints; quaternions have w first, as in the file."""


@attrs.frozen(kw_only=True)
class MatterRow:
    """An object of matter: a cloth, a soft body, granular matter or a cable."""

    name: str = _column("matter")
    kind: str = _column("kind")
    """surface, volume, grains or cable."""
    count: int = _column("particles, segments")
    pinned: int = _column("pinned", nothing=0)
    """How many of them have no mass, so that nothing moves them."""
    faces: int = _column("triangles", nothing=0)
    tetrahedra: int = _column("tetrahedra", nothing=0)
    springs: int = _column("springs", nothing=0)
    mass: float = _column("mass [kg]")
    radius: float = _column("radius [m]")
    """Mean radius of the particles, or of the segments."""
    lowest: tuple[float, ...] = _column("lowest [m]")
    """Lowest coordinates in the world at the start, of the particles or of the surface of a cable."""
    highest: tuple[float, ...] = _column("highest [m]")
    label: str


@attrs.frozen(kw_only=True)
class TendonRow:
    """A tendon of the scene."""

    name: str = _column("tendon")
    guides: tuple[str, ...] = _column("guides")
    """What it passes, each with its body."""
    compliance: float = _column("compliance [m/N]")
    """The largest of its spans."""
    label: str


@attrs.frozen(kw_only=True)
class AttachmentRow:
    """The particles of an object that one body holds."""

    name: str = _column("attached")
    body: str = _column("to body")
    count: int = _column("particles")
    stiffness: float | None = _column("stiffness [N/m]")
    """None if the particles do not leave their points."""


@attrs.frozen(kw_only=True)
class MotionRow:
    """A prescribed motion."""

    name: str = _column("motion")
    type: str = _column("type")
    moves: str = _column("moves")


@attrs.frozen(kw_only=True)
class AssetContents:
    """All that one robot file or asset has, or a scene beside its assets, by name: a list of rows for each kind of
    element.

    Each row has a `name`. Lengths are in metres, angles in radians, and rotations are quaternions (x, y, z, w).
    """

    file: str
    """The file."""

    format: str
    """"mjcf", "urdf", "usd", or the name of an installed importer; "scene" for what a configuration lists itself."""

    total_mass: float
    """Mass of all bodies and particles [kg]."""

    dof_count: int
    """Degrees of freedom of the joints, without those that close loops."""

    loops: tuple[str, ...]
    """Labels of the joints that close loops, which the constraints of an MJCF file become."""

    refusal: str
    """Why the file is refused, although it can be listed; empty if it is not."""

    bodies: tuple[Any, ...]
    """Bodies: `name`, `parent`, `mass` [kg], `centre_of_mass` in the body's frame [m], `label`."""

    joints: tuple[Any, ...]
    """Axes of joints: `name`, `type`, `body`, `axis`, `lower` and `upper` [m or rad], `start`, `drive`, `kp`, `kd`,
    `damping`, `armature`, `friction`, `effort_limit` [N or N·m], `velocity_limit` [m/s or rad/s], `label`."""

    shapes: tuple[Any, ...]
    """Shapes: `name`, `body`, `type`, `size` [m], `use` ("collides" or "visual"), `label`."""

    sites: tuple[Any, ...]
    """Sites: `name`, `body`, `position` [m], `rotation`, `label`."""

    actuators: tuple[Any, ...]
    """Actuators of the file: `name`, `type`, `target`, `gear`, `control_range`, `effort_range` [N or N·m]."""

    sensors: tuple[Any, ...]
    """Sensors of an MJCF file: `name`, `type`, `target`, and `alternative`, the sensor of Pippin for it."""

    cameras: tuple[Any, ...]
    """Cameras of an MJCF file: `name`, `body`, `position` [m], `rotation`, `vertical_fov` [rad]."""

    keyframes: tuple[Any, ...]
    """Keyframes of an MJCF file: `name`, and `positions` by joint [m or rad]."""

    matter: tuple[Any, ...] = ()
    """Cloth, soft bodies, granular matter and cables: `name`, `kind`, `count`, `pinned`, `faces`, `tetrahedra`,
    `springs`, `mass` [kg], `radius` [m], `lowest` and `highest` [m], `label`. The segments of a cable are in no other
    list."""

    tendons: tuple[Any, ...] = ()
    """Tendons of a scene: `name`, `guides`, `compliance` [m/N], `label`."""

    attachments: tuple[Any, ...] = ()
    """Particles that bodies hold, by object and body: `name`, `body`, `count`, `stiffness` [N/m]."""

    motions: tuple[Any, ...] = ()
    """Prescribed motions of a scene: `name`, `type`, `moves`."""

    memory: Any = None
    """Memory of the whole simulation; None if it was not asked for: `per_world` and `fixed` [bytes], `fits`, the number
    of worlds by memory [GB], `owners` and `arrays` with a `name` and their own `per_world`, and `wastes`, buffers with
    too much room: `key`, `room`, `used`, `enough`, and what the value `enough` has `saved` [bytes]."""
