"""Shapes of a body: `shapes = [{ type = "box", size = [0.2, 0.2, 0.2] }]`; all keys of `[scene.shapes]` too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, min_len, optional
from pippin.config.files import FilePath
from pippin.config.geometry import Quaternion, Vector3, attributes_field, orientation, vector
from pippin.config.shapes import ShapeConfig
from pippin.validators import finite, fraction, positive


def _are_positive(instance: Any, attribute: Any, value: float | Vector3) -> None:
    for each in value if isinstance(value, tuple) else (value,):
        positive(instance, attribute, each)


def _length() -> Any:
    return attrs.field(validator=positive)


@attrs.frozen(kw_only=True)
class _PlacedShapeConfig(ShapeConfig):
    """Keys of every shape of an object, beside the properties of `[scene.shapes]`."""

    label: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of the shape below that of the object; by default its type, numbered if the object has several."""

    position: Vector3 = vector()
    """Position of the shape's centre in the frame of the body [m]."""

    rotation: Quaternion = orientation()
    """Orientation of the shape in the frame of the body (x, y, z, w)."""

    material: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of a material of `[scene.materials]`; keys of the shape take precedence."""

    color: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(fraction)))
    """Colour: red, green and blue from 0 to 1; by default the viewer chooses."""

    attributes: Mapping[str, float | tuple[float, ...]] = attributes_field()
    """Custom attributes of the solver for the shape, by `SOLVER:NAME`: `{ "mujoco:condim" = 6 }`."""

    opacity: float | None = attrs.field(default=None, validator=optional(fraction))
    """Opacity from 0 to 1 (1)."""


@attrs.frozen(kw_only=True)
class _SiteShapeConfig(_PlacedShapeConfig):
    is_site: bool = False
    """Whether the shape is a site: it is drawn and named, and has no mass and no contacts."""


@attrs.frozen(kw_only=True)
class BoxConfig(_SiteShapeConfig):
    """A box."""

    type: Literal["box"] = "box"
    """The type of the shape."""

    size: Vector3 = attrs.field(validator=deep_iterable(positive))
    """Lengths of the edges [m]: whole ones, where MJCF and Newton take halves."""


@attrs.frozen(kw_only=True)
class SphereConfig(_SiteShapeConfig):
    """A sphere."""

    type: Literal["sphere"] = "sphere"
    """The type of the shape."""

    radius: float = _length()
    """Radius [m]."""


@attrs.frozen(kw_only=True)
class EllipsoidConfig(_SiteShapeConfig):
    """An ellipsoid."""

    type: Literal["ellipsoid"] = "ellipsoid"
    """The type of the shape."""

    radii: Vector3 = attrs.field(validator=deep_iterable(positive))
    """Radii along x, y and z [m]."""


@attrs.frozen(kw_only=True)
class CapsuleConfig(_SiteShapeConfig):
    """A cylinder along z with half spheres at its ends."""

    type: Literal["capsule"] = "capsule"
    """The type of the shape."""

    radius: float = _length()
    """Radius [m]."""

    length: float = _length()
    """Length of the cylinder between the half spheres [m]."""


def _reaches_ends(instance: Any, attribute: Any, value: float) -> None:
    if not 2.0 * value >= instance.length:
        raise ValueError(
            f"'{attribute.name}' must be at least half of the length, {instance.length / 2.0:g} m, or the arc ends"
            f" before the cylinder; got {value!r}"
        )


@attrs.frozen(kw_only=True)
class CylinderConfig(_SiteShapeConfig):
    """A cylinder along z."""

    type: Literal["cylinder"] = "cylinder"
    """The type of the shape."""

    radius: float = _length()
    """Radius [m]; of a barrel, at its ends."""

    length: float = _length()
    """Length [m]."""

    barrel_radius: float | None = attrs.field(default=None, validator=optional([positive, _reaches_ends]))
    """Radius of the arc by which the side bulges [m], as that of a barrel; by default it is straight."""


@attrs.frozen(kw_only=True)
class ConeConfig(_SiteShapeConfig):
    """A cone along z, with its tip upwards; the origin is half way up."""

    type: Literal["cone"] = "cone"
    """The type of the shape."""

    radius: float = _length()
    """Radius of the base [m]."""

    length: float = _length()
    """Height [m]."""


@attrs.frozen(kw_only=True)
class PlaneConfig(_PlacedShapeConfig):
    """A plane with its normal along z, of static objects only."""

    type: Literal["plane"] = "plane"
    """The type of the shape."""

    size: tuple[float, float] | None = attrs.field(default=None, validator=optional(deep_iterable(positive)))
    """Lengths along x and y [m]; by default it has no end."""


@attrs.frozen(kw_only=True)
class MeshConfig(_PlacedShapeConfig):
    """A surface of triangles from a file."""

    type: Literal["mesh"] = "mesh"
    """The type of the shape."""

    path: FilePath
    """A file by its path relative to the configuration file, or `pkg:package/path`: OBJ, STL or another format of
    meshes, `.npz` with `vertices` [m] and `indices`, or a USD stage."""

    prim: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Path of the mesh in a USD stage."""

    scale: float | Vector3 = attrs.field(default=1.0, validator=_are_positive)
    """Scale of all lengths, or of those along x, y and z."""

    is_hull: bool = False
    """Whether contacts see the convex hull of the mesh."""


@attrs.frozen(kw_only=True)
class HeightfieldConfig(_PlacedShapeConfig):
    """A ground of given heights, of static objects only."""

    type: Literal["heightfield"] = "heightfield"
    """The type of the shape."""

    path: FilePath
    """File of the heights [m], of rows along y and columns along x: `.npy`, or `.csv` with commas."""

    size: tuple[float, float] = attrs.field(validator=deep_iterable(positive))
    """Lengths along x and y [m]; the origin is in the middle."""

    scale: float = attrs.field(default=1.0, validator=finite)
    """Factor of the heights."""


ObjectShapeConfig = (
    BoxConfig
    | SphereConfig
    | EllipsoidConfig
    | CapsuleConfig
    | CylinderConfig
    | ConeConfig
    | PlaneConfig
    | MeshConfig
    | HeightfieldConfig
)
"""A shape; its `type` says which."""
