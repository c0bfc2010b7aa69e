"""Single particles at stated points, and springs between them."""

from __future__ import annotations

import newton
import warp as wp
from pippin import ConfigError
from pippin.matter import add_grains, color_of_next

from .configs import ParticlesConfig
from .particles import pin_particles
from .scene_object import Place, SceneObject
from .tables import listed_rows


class PointParticles(SceneObject):
    """Single particles, and springs between them."""

    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add the particles at their points, and the springs as long as they are there."""
        config: ParticlesConfig = self.config
        points = place.in_world(listed_rows(config.points, f"{place.where}.points"))
        first = builder.particle_count
        for point in points.tolist():
            builder.add_particle(
                pos=wp.vec3(*point),
                vel=wp.vec3(*config.velocity),
                mass=config.particle_mass,
                radius=config.particle_radius,
            )
        for pair in config.springs:
            if max(pair) >= len(points):
                raise ConfigError(
                    f"{place.where}.springs: {max(pair)}, but there are {len(points)} particles; count from 0 to"
                    f" {len(points) - 1}"
                )
            builder.add_spring(first + pair[0], first + pair[1], config.spring_ke, config.spring_kd, 0.0)
        add_grains(builder, place.label, first, color_of_next(builder, config.color))
        pin_particles(builder, first, config.pin, place, is_flagged=True)
