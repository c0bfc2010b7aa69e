"""Cloth, of a grid or of a mesh."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp
from pippin.matter import color_of_next

from .configs import ClothGridConfig, ClothMeshConfig
from .meshes import read_mesh
from .particles import pin_particles, refuse_wide_particles
from .scene_object import Place, SceneObject

_STATED = ("tri_ke", "tri_ka", "tri_kd", "tri_drag", "tri_lift", "edge_ke", "edge_kd", "spring_ke", "spring_kd")


def _common(builder: newton.ModelBuilder, config: Any, place: Place) -> dict[str, Any]:
    """Return the arguments that every cloth has."""
    stated = {name: value for name in (*_STATED, "particle_radius") if (value := getattr(config, name)) is not None}
    return {
        "pos": wp.transform_get_translation(place.pose),
        "rot": wp.transform_get_rotation(place.pose),
        "vel": wp.vec3(*config.velocity),
        "add_springs": config.spring_ke is not None,
        "label": place.label,
        "color": color_of_next(builder, config.color),
        **stated,
    }


class ClothGrid(SceneObject):
    """A rectangle of cloth."""

    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add the particles, triangles, bending edges and springs of a cloth."""
        config: ClothGridConfig = self.config
        refuse_wide_particles(builder, config.particle_radius, min(config.cell), place.where)
        columns, rows = config.cells
        mass = config.particle_mass
        if mass is None:
            area = columns * config.cell[0] * rows * config.cell[1]
            mass = (config.density or 0.0) * area / ((columns + 1) * (rows + 1))
        first = builder.particle_count
        grid = {"dim_x": columns, "dim_y": rows, "cell_x": config.cell[0], "cell_y": config.cell[1]}
        builder.add_cloth_grid(**grid, mass=mass, **_common(builder, config, place))
        pin_particles(builder, first, config.pin, place, is_flagged=True)


class ClothMesh(SceneObject):
    """A cloth with the triangles of a file."""

    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add the particles, triangles, bending edges and springs of a cloth."""
        config: ClothMeshConfig = self.config
        mesh = read_mesh(config, place.where)
        first, first_edge = builder.particle_count, builder.edge_count
        triangles: dict[str, Any] = {
            "vertices": [wp.vec3(*point) for point in mesh.vertices],
            "indices": mesh.indices.tolist(),
        }
        builder.add_cloth_mesh(
            **triangles, scale=config.scale, density=config.density, **_common(builder, config, place)
        )
        if config.rest == "flat":
            builder.edge_rest_angle[first_edge:] = [0.0] * (builder.edge_count - first_edge)
        pin_particles(builder, first, config.pin, place, is_flagged=True)
