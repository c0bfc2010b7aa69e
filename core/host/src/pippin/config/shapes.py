"""The tables `[scene.shapes]` and `[scene.terrain]`: surfaces that bodies have, and the ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import attrs
from attrs.validators import deep_iterable, ge, min_len, optional
from pippin.labels import label_fault
from pippin.validators import finite, fraction, non_negative, positive

from .component import ComponentConfig
from .geometry import number


def _range_about_zero(instance: Any, attribute: Any, value: tuple[float, float]) -> None:
    if not value[0] < 0.0 < value[1]:
        raise ValueError(f"'{attribute.name}' must be a negative and a positive distance: {list(value)}")


def _whole_tiles(instance: Any, attribute: Any, value: int) -> None:
    if not (0 < value < 2**16 and value % 8 == 0):
        raise ValueError(f"'{attribute.name}' must be a multiple of 8 from 8 to 65528: {value}")


def _one_resolution(instance: Any, attribute: Any, value: float | None) -> None:
    if value is not None and instance.sdf_max_resolution is not None:
        raise ValueError(f"'{attribute.name}' is given beside sdf_max_resolution; leave one of the two out: {value}")


def _needs_resolution(instance: Any, attribute: Any, value: bool | None) -> None:
    if value and instance.sdf_max_resolution is None and instance.sdf_target_voxel_size is None:
        raise ValueError(f"'{attribute.name}' needs sdf_max_resolution or sdf_target_voxel_size: {value}")


@attrs.frozen(kw_only=True)
class ShapeConfig:
    """Default properties of shapes. A value that an asset states takes precedence.

    A key that the importer of an asset does not leave open is refused: it would change the ground alone.
    """

    density: float | None = number()
    """Density [kg/m³] (1000)."""

    ke: float | None = number()
    """Contact stiffness [N/m] (2500)."""

    kd: float | None = number()
    """Contact damping [N·s/m] (100)."""

    kf: float | None = number()
    """Friction damping of penalty contacts [N·s/m] (1000)."""

    ka: float | None = number()
    """Distance at which penalty contacts adhere [m] (0)."""

    mu: float | None = number()
    """Coefficient of sliding friction (1)."""

    restitution: float | None = number()
    """Coefficient of restitution (0)."""

    mu_torsional: float | None = number()
    """Coefficient of torsional friction [m] (0.005). For MuJoCo, a shape that states no `condim` then gets 4."""

    mu_rolling: float | None = number()
    """Coefficient of rolling friction [m] (0.0001). For MuJoCo, a shape that states no `condim` then gets 6."""

    margin: float | None = number()
    """Thickness added around a shape; contacts act at this distance from the surface [m] (0)."""

    gap: float | None = number()
    """Distance beyond the margins at which contacts are detected [m]; by default 0.1, and 0 where MuJoCo detects."""

    kh: float | None = number()
    """Stiffness of hydroelastic contacts [Pa/m] (1e10)."""

    is_solid: bool | None = None
    """Whether shapes are solid (yes); hollow shapes have walls as thick as their margin."""

    collision_group: int | None = None
    """Collision group (1): a positive group collides with itself and with negative groups, a negative group with all
    other groups, 0 with none."""

    collision_filter_parent: bool | None = None
    """Whether contacts between a body's shapes and those of its parent body are left out (yes)."""

    has_shape_collision: bool | None = None
    """Whether shapes collide with shapes (yes)."""

    has_particle_collision: bool | None = None
    """Whether shapes collide with particles (yes)."""

    is_visible: bool | None = None
    """Whether shapes are drawn (yes)."""

    is_hydroelastic: bool | None = attrs.field(default=None, validator=optional(_needs_resolution))
    """Whether shapes are hydroelastic (no), for contacts between two such shapes; needs CUDA. Planes never are."""

    sdf_max_resolution: int | None = attrs.field(default=None, validator=optional(_whole_tiles))
    """Voxels along the longest edge of a shape's signed distance field; by default shapes have no field."""

    sdf_target_voxel_size: float | None = attrs.field(default=None, validator=[optional(positive), _one_resolution])
    """Edge length of the field's voxels [m], in place of `sdf_max_resolution`."""

    sdf_narrow_band_range: tuple[float, float] | None = attrs.field(
        default=None, validator=optional([deep_iterable(finite), _range_about_zero])
    )
    """Signed distances from the surface between which the field is stored [m] (-0.1, 0.1)."""

    sdf_padding: float | None = number()
    """Padding of the field around a primitive shape [m]; by default the gap, plus the margin if hydroelastic."""

    sdf_texture_format: Literal["uint8", "uint16", "float32"] | None = None
    """Storage format of the field's distances (uint16)."""

    force_sdf: bool | None = None
    """Whether meshes have a field even if no resolution is given, for full-surface contacts with soft bodies (no)."""


def _are_labels(instance: Any, attribute: Any, value: Mapping[str, ComponentConfig]) -> None:
    for label in value:
        if fault := label_fault(label):
            raise ValueError(f"'{attribute.name}': {fault}: {label!r}")


@attrs.frozen(kw_only=True)
class TerrainConfig:
    """The `[scene.terrain]` table: ground of patches, which all worlds share.

    Each patch of the table is a column along y, in the order of the file. The rows along x are levels: the first has
    the easiest patches. The middle of the ground is the origin of the world.
    """

    patches: Mapping[str, Annotated[ComponentConfig, "terrain"]] = attrs.field(validator=[min_len(1), _are_labels])
    """Kinds of ground by label; each is a column of patches."""

    size: tuple[float, float] = attrs.field(default=(8.0, 8.0), validator=deep_iterable(positive))
    """Lengths of a patch along x and y [m]."""

    levels: int = attrs.field(default=10, validator=ge(1))
    """Number of rows of patches."""

    difficulty: tuple[float, float] = attrs.field(default=(0.0, 1.0), validator=deep_iterable(fraction))
    """Difficulty of the first row and of the last one, from 0 to 1; a single row has the last one."""

    border: float = attrs.field(default=20.0, validator=non_negative)
    """Width of the flat ground around all patches [m]."""

    seed: int | None = attrs.field(default=None, validator=optional(ge(0)))
    """Seed of what is random about the ground; by default that of `[simulation]`."""

    material: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of a material of `[scene.materials]` for the whole ground; by default it has the properties of
    `[scene.shapes]`."""
