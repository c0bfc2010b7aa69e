"""The base of kinds of objects: the keys of all, the poses of copies, the base class, and the place of one copy."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
from attrs.validators import deep_iterable, ge, optional
from pippin.config.files import FilePath
from pippin.config.geometry import UPRIGHT, Quaternion, Vector3, attributes_field, orientation, vector
from pippin.config.joints import JointConfig
from pippin.config.shapes import ShapeConfig
from pippin.labels import label_fault
from pippin.quaternions import product, rotated
from pippin.validators import finite, non_negative, slice_or_indices

from .tables import read_table

if TYPE_CHECKING:
    import newton


def _high_enough(instance: Any, attribute: Any, value: str) -> None:
    columns, _, layers = instance.count
    if value == "triangle" and layers > columns:
        raise ValueError(
            f"'{attribute.name}' must have at most as many layers as its first layer has copies along x, {columns},"
            f" got {layers}"
        )


@attrs.frozen(kw_only=True)
class RepeatConfig:
    """Copies of an object in rows, columns and layers. The first copy has the object's position."""

    count: tuple[int, int, int] = attrs.field(validator=deep_iterable(ge(1)))
    """Number of copies along x, y and z; they are numbered along x first, and along z last."""

    spacing: Vector3 = vector()
    """Distance of neighbours along x, y and z [m]."""

    shift: Vector3 = vector()
    """Offset of every other layer [m], as bricks of a wall have it."""

    pattern: Literal["grid", "triangle"] = attrs.field(default="grid", validator=_high_enough)
    """Arrangement: all layers alike (`grid`), or each with one copy less along x than the one below, centred on it
    (`triangle`)."""

    jitter: float = attrs.field(default=0.0, validator=non_negative)
    """Largest random offset of a copy along each axis, the same in all worlds [m]."""

    seed: int = attrs.field(default=0, validator=ge(0))
    """Seed of these offsets."""


def _are_poses(instance: Any, attribute: Any, value: tuple[tuple[float, ...], ...] | str) -> None:
    if value and instance.repeat is not None:
        raise ValueError(f"'{attribute.name}' is given beside 'repeat'; leave one of the two out")
    for pose in () if isinstance(value, str) else value:
        _is_pose(attribute, pose)


def _is_pose(attribute: Any, value: tuple[float, ...]) -> None:
    if len(value) not in (3, 7):
        raise ValueError(
            f"'{attribute.name}' must be positions (x, y, z), or poses (x, y, z, qx, qy, qz, qw): {list(value)}"
        )
    finite(None, attribute, value)
    length = sum(each * each for each in value[3:]) ** 0.5
    if len(value) == 7 and not abs(length - 1.0) < 1e-3:
        raise ValueError(f"'{attribute.name}' must have unit quaternions: {list(value)} has one of length {length:.4g}")


def _is_label(instance: Any, attribute: Any, value: str) -> None:
    if fault := label_fault(value):
        raise ValueError(f"'{attribute.name}': {fault}: {value!r}")


@attrs.frozen(kw_only=True)
class ObjectConfig:
    """The keys of every table of `[[scene.objects]]`. A plugin's settings derive from this class."""

    label: str = attrs.field(validator=_is_label)
    """Name of the object: the label of its body, and the beginning of the labels of its parts. Copies are numbered:
    `crate_0`, `crate_1`."""

    worlds: str | tuple[int, ...] | None = attrs.field(default=None, validator=optional(slice_or_indices))
    """Worlds that contain the object: a slice as in Python (`"0:32"`, `"::2"`) or a list of indices; by default all."""

    position: Vector3 = vector()
    """Position of the object's origin in the world [m]."""

    rotation: Quaternion = orientation()
    """Orientation of the object in the world: unit quaternion (x, y, z, w)."""

    repeat: RepeatConfig | None = None
    """Copies of the object in rows, columns and layers; by default there is one object."""

    attributes: Mapping[str, float | tuple[float, ...]] = attributes_field()
    """Custom attributes of the solver for all bodies, shapes and particles of the object, by `SOLVER:NAME`:
    `{ "mpm:viscosity" = 10.0 }`."""

    poses: tuple[tuple[float, ...], ...] | FilePath = attrs.field(default=(), validator=_are_poses)
    """Poses of copies of the object, each relative to its `position` and `rotation`: `[x, y, z]`, or
    `[x, y, z, qx, qy, qz, qw]` [m]; or a file `.csv` or `.npy` with such rows."""


@attrs.frozen(kw_only=True, eq=False)
class ObjectPose:
    """One copy of an object: its label and its pose, and what the scene says about all objects."""

    label: str
    """Label of this copy, which no other object has."""

    pose: Any
    """A `wp.transform`: position [m] and orientation of the object's origin in the world."""

    where: str
    """Key path of the object's table, for errors."""

    labels: Sequence[str]
    """Labels of all copies of the object in this world."""

    materials: Mapping[str, ShapeConfig]
    """The materials of the scene by name."""

    joints: list[tuple[str, int, JointConfig]] = attrs.field(factory=list)
    """Joints to add, each with its key path and the body that it moves. A body without a joint gets a free one."""

    def in_world(self, points: np.ndarray) -> np.ndarray:
        """Return points of the object in the world [m], shape [points, 3].

        Args:
            points: The points in the frame of the object [m], shape [points, 3].
        """
        x, y, z, *rotation = self.pose
        return rotated(np.array(rotation, dtype=float), points) + np.array([x, y, z], dtype=float)


class SceneObject(abc.ABC):
    """A kind of objects. A plugin adds `add_object`.

    The host places copies, numbers their labels, and gives each new body its joint.

    Args:
        config: The table of the object, an `ObjectConfig`.
    """

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def add_object(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add one copy of the object.

        Add bodies with `add_link`: the host adds their joints after all objects of the world are there, since joints of
        one tree must follow each other.

        Args:
            builder: The content of one world so far, with the defaults of the scene.
            place: The label and the pose of the copy.

        Raises:
            pippin.ConfigError: The object cannot be added. The error gets the place of the object in front.
        """


def placed_copies(config: ObjectConfig, where: str) -> dict[str, np.ndarray]:
    """Return the pose of each copy of an object in the world by its label: position [m] and quaternion, shape [7]."""
    rows = _relative_poses(config, where)
    if rows is None:
        return {config.label: np.array([*config.position, *config.rotation])}
    turn = np.array(config.rotation)
    offsets = rows[:, :3] if config.repeat is not None else rotated(turn, rows[:, :3])
    poses = np.concatenate([offsets + np.array(config.position), product(turn, rows[:, 3:])], axis=1)
    return {f"{config.label}_{number}": pose for number, pose in enumerate(poses)}


def _relative_poses(config: ObjectConfig, where: str) -> np.ndarray | None:
    """Return the poses of copies relative to the object, shape [copies, 7]; None if there is one object."""
    if config.repeat is not None:
        rows = _positions(config.repeat)
    elif isinstance(config.poses, str):
        rows = read_table(config.poses, f"{where}.poses", (3, 7))
    elif config.poses:
        return np.array([[*pose[:3], *(pose[3:] or UPRIGHT)] for pose in config.poses])
    else:
        return None
    return rows if rows.shape[1] == 7 else np.concatenate([rows, np.tile(UPRIGHT, (len(rows), 1))], axis=1)


def _places(repeat: RepeatConfig) -> Iterator[tuple[float, int, int]]:
    columns, rows, layers = repeat.count
    for layer in range(layers):
        missing = layer if repeat.pattern == "triangle" else 0
        for row in range(rows):
            yield from ((column + missing / 2, row, layer) for column in range(columns - missing))


def _positions(repeat: RepeatConfig) -> np.ndarray:
    """Return the position of each copy relative to the first [m], shape [copies, 3]."""
    places = np.array(list(_places(repeat)), dtype=float)
    positions = places * np.array(repeat.spacing) + (places[:, 2:] % 2) * np.array(repeat.shift)
    if repeat.jitter:
        draws = np.random.default_rng(repeat.seed).uniform(-1.0, 1.0, positions.shape)
        positions += draws * repeat.jitter
    return positions
