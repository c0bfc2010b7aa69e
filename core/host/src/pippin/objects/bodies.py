"""Objects of rigid bodies: a body with shapes, and a rod of short segments, which is a cable, a ring or a net."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.labels import assign
from pippin.matter import color_of_next

from . import JointConfig
from .configs import BodyConfig, BodyVariantConfig, RodConfig
from .scene_bodies import pinned
from .scene_object import ObjectPose, SceneObject
from .shapes import add_shape, properties_of
from .tables import listed_rows


class Body(SceneObject):
    """A rigid body with shapes, or shapes that never move."""

    def add_object(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the body and its shapes; a static one adds shapes alone."""
        config: BodyConfig = self.config
        body = -1 if config.motion == "static" else self._add_link(builder, place)
        _add_shapes(builder, body, config, config, place, place.where)
        if body < 0:
            return
        if config.mass is not None and config.inertia is None:
            _scale_mass(builder, body, config.mass, f"{place.where}.mass")
        if config.variants:
            _add_variants(builder, body, config, place)
        if config.joint is not None:
            place.joints.append((f"{place.where}.joint", body, self._started(place)))
        else:
            builder.body_qd[body] = wp.spatial_vector(*config.velocity, *config.angular_velocity)

    def _add_link(self, builder: newton.ModelBuilder, place: ObjectPose) -> int:
        config = self.config
        given: dict[str, Any] = {"mass": config.extra_mass or 0.0}
        if config.inertia is not None:
            com = config.com or (0.0, 0.0, 0.0)
            given = {"mass": config.mass, "inertia": np.diag(config.inertia), "com": com, "lock_inertia": True}
        is_kinematic = config.motion == "kinematic"
        return builder.add_link(xform=place.pose, label=place.label, is_kinematic=is_kinematic, **given)

    def _started(self, place: ObjectPose) -> JointConfig:
        assert self.config.joint is not None, "asked for a joint"
        positions, where = self.config.joint_positions, f"{place.where}.joint_positions"
        chosen = dict(zip(place.labels, assign(positions, place.labels, "copy", where), strict=True))[place.label]
        return self.config.joint if chosen is None else attrs.evolve(self.config.joint, position=positions[chosen])


def _add_shapes(
    builder: newton.ModelBuilder,
    body: int,
    shapes: BodyConfig | BodyVariantConfig,
    config: BodyConfig,
    place: ObjectPose,
    where: str,
) -> None:
    types = [shape.type for shape in shapes.shapes]
    for index, shape in enumerate(shapes.shapes):
        number = f"_{types[:index].count(shape.type)}" if types.count(shape.type) > 1 else ""
        label = f"{place.label}/{shape.label or shape.type + number}"
        own = f"{where}.shapes[{index}]"
        add_shape(builder, body, shape, place, label=label, where=own, material=config.material)


def _add_variants(builder: newton.ModelBuilder, body: int, config: BodyConfig, place: ObjectPose) -> None:
    """Declare the variants of a body, each a builder of its own with one body."""
    variants, labels = [], []
    for index, each in enumerate(config.variants):
        where = f"{place.where}.variants[{index}]"
        own = newton.ModelBuilder(up_axis=builder.up_axis)
        own.default_shape_cfg = builder.default_shape_cfg
        for attribute in builder.custom_attributes.values():
            if attribute.frequency == newton.Model.AttributeFrequency.SHAPE:
                own.add_custom_attribute(dataclasses.replace(attribute, values=None))
        only = own.add_link(mass=0.0)
        _add_shapes(own, only, each, config, place, where)
        if each.mass is not None:
            _scale_mass(own, only, each.mass, f"{where}.mass")
        if builder.body_mass[body] + own.body_mass[only] <= 0.0:
            raise ConfigError(f"{where}: the body has no mass with it; give a shape a density, or state 'mass'")
        variants.append(own)
        labels.append(each.label or f"variant_{index}")
    if len(set(labels)) < len(labels):
        twice = next(each for each in labels if labels.count(each) > 1)
        raise ConfigError(f"{place.where}.variants: two have the label {twice!r}; give each its own")
    try:
        builder.add_body_variants(body, variants, labels=labels)
    except ValueError as error:
        raise ConfigError(f"{place.where}.variants: newton refused them: {error}") from error


def _scale_mass(builder: newton.ModelBuilder, body: int, mass: float, where: str) -> None:
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


_STATED = [f"{kind}_{what}" for kind in ("stretch", "shear", "bend", "twist") for what in ("stiffness", "damping")]
_DAHL = ("dahl_eps_max", "dahl_tau")


class Rod(SceneObject):
    """A cable, a ring or a net of short segments."""

    def add_object(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add a body, a capsule and a joint for each segment; the first segment is free."""
        config: RodConfig = self.config
        stated = {name: value for name in _STATED if (value := getattr(config, name)) is not None}
        shape = properties_of(builder, place, config.material, f"{place.where}.material")
        color = color_of_next(builder, config.color)
        try:
            rod = _rod(config, place)
            bodies, joints = builder.add_rod(rod=rod, cfg=shape, label=place.label, color=color, **stated)
        except ValueError as error:
            raise ConfigError(f"{place.where}: newton refused the rod: {error}") from error
        centres = np.array([builder.body_q[body] for body in bodies], dtype=float)[:, :3]
        for chosen in pinned(centres, config.pin, place):
            builder.body_flags[bodies[chosen]] = int(newton.BodyFlags.KINEMATIC)
        _filter(builder, bodies, config)
        for name in _DAHL if config.dahl_tau is not None else ():
            attribute = builder.custom_attributes.get(f"vbd:{name}")
            if attribute is None:
                raise ConfigError(f"{place.where}.{name}: the solver has no such friction of joints; use solver vbd")
            values: Any = attribute.values or {}
            attribute.values = {**values, **dict.fromkeys(joints, getattr(config, name))}


def _rod(config: RodConfig, place: ObjectPose) -> newton.Rod:
    """Return the rod in the world, at rest without twist between the frames of its segments."""
    points = place.in_world(_points(config, f"{place.where}.points"))
    edges, rest = _edges(config, f"{place.where}.edges"), None
    if config.twist_total and not config.rest_straight:
        rest = points  # with frames of its own, which have no twist
    if config.rest_points:
        rest = place.in_world(listed_rows(config.rest_points, f"{place.where}.rest_points"))
        if len(rest) != len(points):
            raise ConfigError(f"{place.where}.rest_points: expected {len(points)} points, as 'points', got {len(rest)}")
    rod = newton.Rod(
        points,
        edges=edges,
        rest_points=rest,
        rest_quaternions=None if rest is None or edges is not None else newton.Rod(rest).quaternions,
        rest_straight=config.rest_straight,
        closed=config.closed,
        radius=config.radius,
        youngs_modulus=config.youngs_modulus,
        poissons_ratio=config.poissons_ratio,
    )
    if config.twist_total:
        rod.compute_frames(twist_total=config.twist_total)
    return rod


def _points(config: RodConfig, where: str) -> np.ndarray:
    """Return the ends of the segments in the frame of the object [m], shape [points, 3]."""
    if not config.points:
        assert config.end is not None, "a rod has points, or an end and segments"
        assert config.segments is not None, "as above"
        return np.linspace((0.0, 0.0, 0.0), config.end, config.segments + 1)
    points = listed_rows(config.points, where)
    if len(points) < 2:
        raise ConfigError(f"{where}: a rod needs at least 2 points, got {len(points)}")
    return points


def _edges(config: RodConfig, where: str) -> np.ndarray | None:
    """Return the two points of each segment, shape [segments, 2]; None if each joins a point to the next one."""
    if not config.edges:
        return None
    rows = listed_rows(config.edges, where, 2)
    if (rows != rows.astype(int)).any():
        raise ConfigError(f"{where}: expected numbers of points, which are integers")
    return rows.astype(int)


def _filter(builder: newton.ModelBuilder, bodies: Sequence[int], config: RodConfig) -> None:
    """Let segments that are near along the rod not collide; those that a joint joins never do."""
    count = len(bodies)
    for step in range(2, config.filtered_neighbours + 1):
        pairs = [(index, (index + step) % count) for index in range(count if config.closed else count - step)]
        for one, other in ((bodies[first], bodies[second]) for first, second in pairs if first != second):
            builder.add_shape_collision_filter_pair(builder.body_shapes[one][0], builder.body_shapes[other][0])
