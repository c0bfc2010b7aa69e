"""The object `body`: a rigid body with shapes, or shapes that never move."""

from __future__ import annotations

from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.labels import assign

from . import JointConfig
from .configs import BodyConfig
from .scene_object import Place, SceneObject
from .shapes import add_shape


class Body(SceneObject):
    """A rigid body with shapes, or shapes that never move."""

    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add the body and its shapes; a static one adds shapes alone."""
        config: BodyConfig = self.config
        body = -1 if config.motion == "static" else self._add_link(builder, place)
        types = [shape.type for shape in config.shapes]
        for index, shape in enumerate(config.shapes):
            number = f"_{types[:index].count(shape.type)}" if types.count(shape.type) > 1 else ""
            label = f"{place.label}/{shape.label or shape.type + number}"
            where = f"{place.where}.shapes[{index}]"
            add_shape(builder, body, shape, place, label=label, where=where, material=config.material)
        if body < 0:
            return
        if config.mass is not None and config.inertia is None:
            _scale_mass(builder, body, config.mass, f"{place.where}.mass")
        if config.joint is not None:
            place.joints.append((f"{place.where}.joint", body, self._started(place)))
        else:
            builder.body_qd[body] = wp.spatial_vector(*config.velocity, *config.angular_velocity)

    def _add_link(self, builder: newton.ModelBuilder, place: Place) -> int:
        config = self.config
        given: dict[str, Any] = {"mass": config.extra_mass or 0.0}
        if config.inertia is not None:
            com = config.com or (0.0, 0.0, 0.0)
            given = {"mass": config.mass, "inertia": np.diag(config.inertia), "com": com, "lock_inertia": True}
        is_kinematic = config.motion == "kinematic"
        return builder.add_link(xform=place.pose, label=place.label, is_kinematic=is_kinematic, **given)

    def _started(self, place: Place) -> JointConfig:
        """Return the joint of a copy, with its own start position."""
        assert self.config.joint is not None, "asked for a joint"
        positions, where = self.config.joint_positions, f"{place.where}.joint_positions"
        chosen = dict(zip(place.labels, assign(positions, place.labels, "copy", where), strict=True))[place.label]
        return self.config.joint if chosen is None else attrs.evolve(self.config.joint, position=positions[chosen])


def _scale_mass(builder: newton.ModelBuilder, body: int, mass: float, where: str) -> None:
    """Give a body a mass, with the centre and the shape of inertia that its shapes have."""
    own = builder.body_mass[body]
    if not own:
        raise ConfigError(
            f"{where}: {mass}, but no shape has a density that says where the mass is; give one a density, or state"
            " inertia"
        )
    inertia = np.array(builder.body_inertia[body]).reshape(3, 3) * (mass / own)
    builder.body_mass[body], builder.body_inv_mass[body] = mass, 1.0 / mass
    builder.body_inertia[body] = wp.mat33(inertia)
    builder.body_inv_inertia[body] = wp.mat33(np.linalg.inv(inertia))
