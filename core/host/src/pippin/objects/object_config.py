"""Keys of every kind of object: its label, its worlds, its pose and its copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, ge, optional
from pippin.config.files import FilePath
from pippin.config.geometry import Quaternion, Vector3, attributes_field, orientation, vector
from pippin.labels import label_fault
from pippin.validators import finite, non_negative, slice_or_indices


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
