"""Soft bodies of tetrahedra, of a grid or of a mesh."""

from __future__ import annotations

import math
from typing import Any

import newton
import warp as wp
from pippin import ConfigError, find_file
from pippin.array_files import read_arrays
from pippin.matter import color_of_next

from .configs import SoftGridConfig, SoftMeshConfig
from .meshes import tetrahedra_of
from .particles import pin_particles, refuse_wide_particles
from .scene_object import Place, SceneObject


def _common(builder: newton.ModelBuilder, config: Any, place: Place) -> dict[str, Any]:
    """Return the arguments that every soft body has."""
    names = ("density", "k_mu", "k_lambda", "k_damp", "particle_radius")
    return {
        "pos": wp.transform_get_translation(place.pose),
        "rot": wp.transform_get_rotation(place.pose),
        "vel": wp.vec3(*config.velocity),
        "label": place.label,
        "color": color_of_next(builder, config.color),
        **{name: getattr(config, name) for name in names},
    }


class SoftGrid(SceneObject):
    """A soft block."""

    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add the particles and tetrahedra of a block."""
        config: SoftGridConfig = self.config
        refuse_wide_particles(builder, config.particle_radius, min(config.cell), place.where)
        first = builder.particle_count
        grid: dict[str, Any] = {}
        for axis, count, cell in zip("xyz", config.cells, config.cell, strict=True):
            grid |= {f"dim_{axis}": count, f"cell_{axis}": cell}
        builder.add_soft_grid(**grid, **_common(builder, config, place))
        # Newton gives each particle the mass of a cell, and there are more particles than cells.
        share = math.prod(config.cells) / (builder.particle_count - first)
        builder.particle_mass[first:] = [mass * share for mass in builder.particle_mass[first:]]
        pin_particles(builder, first, config.pin, place, is_flagged=True)


class SoftMesh(SceneObject):
    """A soft body with the tetrahedra of a file."""

    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add the particles and tetrahedra of a mesh."""
        config: SoftMeshConfig = self.config
        file = find_file(config.path, f"{place.where}.path")
        try:
            if file.suffix == ".npz":
                read_arrays(file)  # refuses what Newton would unpack
            mesh = tetrahedra_of(file) or newton.TetMesh.create_from_file(str(file))
        except Exception as error:  # readers of meshes raise errors of any class
            raise ConfigError(
                f"{place.where}.path: {str(file)!r} holds no tetrahedra ({type(error).__name__}: {error}); name another"
                " file"
            ) from error
        first = builder.particle_count
        builder.add_soft_mesh(mesh=mesh, scale=config.scale, **_common(builder, config, place))
        pin_particles(builder, first, config.pin, place, is_flagged=True)
