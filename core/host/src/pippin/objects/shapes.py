"""Shapes of an object in a builder."""

from __future__ import annotations

from typing import Any

import attrs
import newton
import warp as wp
from pippin.config.shapes import ShapeConfig
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

from . import shape_configs as configs
from .attributes import counts_of, set_attributes
from .meshes import read_heightfield, read_mesh
from .scene_object import ObjectPose

_PROPERTIES = [field.name for field in attrs.fields(ShapeConfig)]


def add_shape(
    builder: newton.ModelBuilder,
    body: int,
    config: configs.ObjectShapeConfig,
    place: ObjectPose,
    *,
    label: str,
    where: str,
    material: str | None,
) -> None:
    """Add a shape to a body, or to the world at the object's pose, with its attributes.

    `material` is that of the object, for a shape that states none. A body of -1 is the world.
    """
    before = counts_of(builder)
    pose = wp.transform(config.position, config.rotation)
    name, key = (material, where.rpartition(".shapes")[0]) if config.material is None else (config.material, where)
    common: dict[str, Any] = {
        "xform": place.pose * pose if body < 0 else pose,
        "cfg": properties_of(builder, place, name, f"{key}.material", config),
        "color": config.color,
        "opacity": config.opacity,
        "label": label,
    }
    if not isinstance(config, configs.PlaneConfig | configs.MeshConfig | configs.HeightfieldConfig):
        common["as_site"] = config.is_site
    match config:
        case configs.PlaneConfig(size=size):
            _refuse_moving(body, where)
            length, width = size or (0.0, 0.0)
            builder.add_shape_plane(None, length=length, width=width, body=body, **common)
        case configs.HeightfieldConfig():
            _refuse_moving(body, where)
            builder.add_shape_heightfield(heightfield=read_heightfield(config, where), **common)
        case configs.MeshConfig():
            scale: Any = config.scale if isinstance(config.scale, tuple) else (config.scale,) * 3
            add = builder.add_shape_convex_hull if config.is_hull else builder.add_shape_mesh
            mesh = read_mesh(config, where)
            common["cfg"] = _with_field(mesh, common["cfg"], where)
            add(body, mesh=mesh, scale=scale, **common)
        case configs.BoxConfig(size=(x, y, z)):
            builder.add_shape_box(body, hx=x / 2, hy=y / 2, hz=z / 2, **common)
        case configs.SphereConfig(radius=radius):
            builder.add_shape_sphere(body, radius=radius, **common)
        case configs.EllipsoidConfig(radii=(x, y, z)):
            builder.add_shape_ellipsoid(body, rx=x, ry=y, rz=z, **common)
        case configs.CapsuleConfig() | configs.CylinderConfig() | configs.ConeConfig():
            if arc := getattr(config, "barrel_radius", None):
                common["barrel_radius"] = arc
            add = getattr(builder, f"add_shape_{config.type}")
            add(body, radius=config.radius, half_height=config.length / 2, **common)
    set_attributes(builder, config.attributes, before, where)


def properties_of(
    builder: newton.ModelBuilder, place: ObjectPose, material: str | None, where: str, own: ShapeConfig | None = None
) -> newton.ModelBuilder.ShapeConfig:
    """Return the properties of a shape: its own, those of its material, and those of the scene, in this order."""
    if material is not None and material not in place.materials:
        known = ", ".join(place.materials) or "none"
        near = did_you_mean(material, place.materials)
        raise ConfigError(f"{where}: no material {material!r} in scene.materials, which has {known}{near}")
    found = builder.default_shape_cfg.copy()
    for source in (None if material is None else place.materials[material], own):
        for name in _PROPERTIES if source is not None else ():
            value = getattr(source, name)
            if value is not None:
                setattr(found, name, value)
    return found


def _with_field(
    mesh: newton.Mesh, shape: newton.ModelBuilder.ShapeConfig, where: str
) -> newton.ModelBuilder.ShapeConfig:
    """Build the signed distance field of a mesh, if its shape asks for one (on CUDA); return properties without it."""
    if shape.sdf_max_resolution is None and shape.sdf_target_voxel_size is None:
        return shape
    inner, outer = shape.sdf_narrow_band_range
    try:
        mesh.build_sdf(
            max_resolution=shape.sdf_max_resolution,
            target_voxel_size=shape.sdf_target_voxel_size,
            narrow_band_range=(inner, outer),
            margin=shape.sdf_padding,
            texture_format=shape.sdf_texture_format,
        )
    except RuntimeError as error:
        raise ConfigError(f"{where}: its signed distance field: {error} Leave sdf_max_resolution out") from error
    left, default = shape.copy(), newton.ModelBuilder.ShapeConfig()
    for name in ("max_resolution", "target_voxel_size", "narrow_band_range", "padding", "texture_format"):
        setattr(left, f"sdf_{name}", getattr(default, f"sdf_{name}"))
    return left


def _refuse_moving(body: int, where: str) -> None:
    if body >= 0:
        raise ConfigError(f"{where}: a plane and a heightfield cannot move; set motion = 'static'")
