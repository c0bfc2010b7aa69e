"""Objects of particles: cloth, soft bodies, granular matter and single particles."""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, did_you_mean, find_file
from pippin.array_files import read_arrays
from pippin.matter import add_grains, color_of_next

from .meshes import read_mesh, tetrahedra_of
from .scene_bodies import pinned
from .scene_object import ObjectPose, SceneObject
from .tables import listed_rows

_RADIUS_MAX = 2.0
"""Largest radius of a particle in cells: particles of a larger one push each other away at the start."""

_CLOTH = ("tri_ke", "tri_ka", "tri_kd", "tri_drag", "tri_lift", "edge_ke", "edge_kd", "spring_ke", "spring_kd")
_SOFT = ("density", "k_mu", "k_lambda", "k_damp")
"""Keys that have Newton's names, and None for Newton's default."""

_NAMESPACE = "mpm:"


class _ParticleObject(SceneObject):
    is_flagged = True
    """Whether pinned particles are inactive too, as solvers of cloth want it; those of granular matter want a mass of
    zero alone."""

    def add_object(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the particles and what joins them, and hold those that are pinned."""
        first = builder.particle_count
        self.add_particles(builder, place)
        world = np.array(builder.particle_q[first:], dtype=float).reshape(-1, 3)
        for chosen in pinned(world, self.config.pin, place):
            builder.particle_mass[first + chosen] = 0.0
            if self.is_flagged:
                builder.particle_flags[first + chosen] &= ~int(newton.ParticleFlags.ACTIVE)

    @abc.abstractmethod
    def add_particles(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the particles and what joins them."""

    def placed(self, place: ObjectPose) -> dict[str, Any]:
        """Return Newton's arguments of the pose and the start velocity."""
        turn = wp.transform_get_rotation(place.pose)
        return {"pos": wp.transform_get_translation(place.pose), "rot": turn, "vel": wp.vec3(*self.config.velocity)}

    def stated(self, builder: newton.ModelBuilder, place: ObjectPose, names: Sequence[str]) -> dict[str, Any]:
        """Return these, those of label and colour, and the values of some keys."""
        color = color_of_next(builder, self.config.color)
        values = {name: getattr(self.config, name) for name in (*names, "particle_radius")}
        return {**self.placed(place), "label": place.label, "color": color, **values}

    def grid(self, builder: newton.ModelBuilder, place: ObjectPose) -> dict[str, Any]:
        """Return Newton's arguments of the cells; refuse particles that are much wider than a cell: they explode."""
        config, cell = self.config, min(self.config.cell)
        used = builder.default_particle_radius if config.particle_radius is None else config.particle_radius
        if used > _RADIUS_MAX * cell:
            raise ConfigError(
                f"{place.where}.particle_radius: {used:g} m is more than {_RADIUS_MAX:g} cells of {cell:g} m, so that"
                " neighbours push each other away; set about half a cell"
            )
        return _cells(config.cells, config.cell)


class ClothGrid(_ParticleObject):
    """A rectangle of cloth."""

    def add_particles(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the particles, triangles, bending edges and springs of a cloth."""
        config, grid = self.config, self.grid(builder, place)
        columns, rows = config.cells
        mass = config.particle_mass
        if mass is None:
            area = columns * config.cell[0] * rows * config.cell[1]
            mass = (config.density or 0.0) * area / ((columns + 1) * (rows + 1))
        has_springs = config.spring_ke is not None
        builder.add_cloth_grid(**grid, mass=mass, add_springs=has_springs, **self.stated(builder, place, _CLOTH))


class ClothMesh(_ParticleObject):
    """A cloth with the triangles of a file."""

    def add_particles(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the particles, triangles, bending edges and springs of a cloth."""
        config, first_edge = self.config, builder.edge_count
        mesh = read_mesh(config, place.where)
        triangles: dict[str, Any] = {
            "vertices": [wp.vec3(*point) for point in mesh.vertices],
            "indices": mesh.indices.tolist(),
            "add_springs": config.spring_ke is not None,
        }
        builder.add_cloth_mesh(**triangles, **self.stated(builder, place, (*_CLOTH, "scale", "density")))
        if config.rest == "flat":
            builder.edge_rest_angle[first_edge:] = [0.0] * (builder.edge_count - first_edge)


class SoftGrid(_ParticleObject):
    """A soft block."""

    def add_particles(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the particles and tetrahedra of a block."""
        grid, first = self.grid(builder, place), builder.particle_count
        builder.add_soft_grid(**grid, **self.stated(builder, place, _SOFT))
        # Newton gives each particle the mass of a cell, and there are more particles than cells.
        share = math.prod(self.config.cells) / (builder.particle_count - first)
        builder.particle_mass[first:] = [mass * share for mass in builder.particle_mass[first:]]


class SoftMesh(_ParticleObject):
    """A soft body with the tetrahedra of a file."""

    def add_particles(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the particles and tetrahedra of a mesh."""
        file = find_file(self.config.path, f"{place.where}.path")
        try:
            if file.suffix == ".npz":
                read_arrays(file)  # refuses what Newton would unpack
            mesh = tetrahedra_of(file) or newton.TetMesh.create_from_file(str(file))
        except Exception as error:  # readers of meshes raise errors of any class
            raise ConfigError(
                f"{place.where}.path: {str(file)!r} holds no tetrahedra ({type(error).__name__}: {error}); name another"
                " file"
            ) from error
        builder.add_soft_mesh(mesh=mesh, **self.stated(builder, place, (*_SOFT, "scale")))


class Granular(_ParticleObject):
    """Loose particles in a block, or at listed points."""

    is_flagged = False

    def add_particles(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the particles, each with the mass of a cell between neighbours."""
        first, material = builder.particle_count, self._material(builder, place)
        if self.config.size is None:
            self._add_points(builder, place, material)
        else:
            self._add_block(builder, place, material)
        add_grains(builder, place.label, first, color_of_next(builder, self.config.color))

    def _material(self, builder: newton.ModelBuilder, place: ObjectPose) -> dict[str, float]:
        stated = self.config.mpm
        known = [key.removeprefix(_NAMESPACE) for key in builder.custom_attributes if key.startswith(_NAMESPACE)]
        for name in stated:
            if name not in known:
                has = did_you_mean(name, known) or f"; it has {', '.join(known)}"
                cure = has if known else "; use solver implicit-mpm"
                raise ConfigError(f"{place.where}.mpm.{name}: the solver has no such attribute of particles{cure}")
        return {f"{_NAMESPACE}{name}": value for name, value in stated.items()}

    def _add_block(self, builder: newton.ModelBuilder, place: ObjectPose, material: dict[str, float]) -> None:
        config = self.config
        counts = [math.ceil(length / config.spacing - 1e-6) for length in config.size]
        cell = np.where(counts, np.array(config.size) / np.maximum(counts, 1), config.spacing)
        builder.add_particle_grid(
            mass=config.density * float(cell.prod()),
            jitter=config.jitter * float(cell.max()),
            radius_mean=config.particle_radius or float(cell.max()) / 2,
            custom_attributes=material,
            **self.placed(place),
            **_cells([count + 1 for count in counts], cell.tolist()),
        )

    def _add_points(self, builder: newton.ModelBuilder, place: ObjectPose, material: dict[str, float]) -> None:
        config = self.config
        points = place.in_world(listed_rows(config.points, f"{place.where}.points"))
        count = len(points)
        # As Newton does it in a block: another draw for each object.
        draws = np.random.default_rng(42 + builder.particle_count).random(points.shape) - 0.5
        builder.add_particles(
            pos=[wp.vec3(*each) for each in points + draws * config.jitter * config.spacing],
            vel=[wp.vec3(*config.velocity)] * count,
            mass=[config.density * config.spacing**3] * count,
            radius=[config.particle_radius or config.spacing / 2] * count,
            custom_attributes={name: [value] * count for name, value in material.items()},
        )


class PointParticles(_ParticleObject):
    """Single particles, and springs between them."""

    def add_particles(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the particles at their points, and the springs as long as they are there."""
        config, first = self.config, builder.particle_count
        points = place.in_world(listed_rows(config.points, f"{place.where}.points"))
        for point in points.tolist():
            velocity, mass = wp.vec3(*config.velocity), config.particle_mass
            builder.add_particle(pos=wp.vec3(*point), vel=velocity, mass=mass, radius=config.particle_radius)
        for pair in config.springs:
            if max(pair) >= len(points):
                raise ConfigError(
                    f"{place.where}.springs: {max(pair)}, but there are {len(points)} particles; count from 0 to"
                    f" {len(points) - 1}"
                )
            builder.add_spring(first + pair[0], first + pair[1], config.spring_ke, config.spring_kd, 0.0)
        add_grains(builder, place.label, first, color_of_next(builder, config.color))


def _cells(counts: Sequence[int], cell: Sequence[float]) -> dict[str, Any]:
    """Return Newton's arguments of a grid: numbers and sizes of its cells along two or three axes."""
    axes = "xyz"[: len(cell)]
    dims = {f"dim_{axis}": count for axis, count in zip(axes, counts, strict=True)}
    return dims | {f"cell_{axis}": edge for axis, edge in zip(axes, cell, strict=True)}
