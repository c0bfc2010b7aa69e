"""The bodies of one world by label, and what a scene attaches to them: sites, tendons, and particles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.assets.start_poses import start_poses
from pippin.config.geometry import AttachmentConfig, PinConfig
from pippin.config.joints import JointConfig, SceneSiteConfig, TendonConfig, TendonGuideConfig
from pippin.errors import ConfigError
from pippin.labels import match, name_of
from pippin.spelling import did_you_mean
from pippin.state.world_layout import ObjectParts, chosen_part, in_frame

from .joints import Joint
from .scene_object import ObjectPose

Frame = tuple[int, Any]
"""A body, -1 for the world, and a `wp.transform` in its frame."""


@attrs.define
class SceneBodies:
    """The bodies of one world by label: those of robots, and those of objects."""

    builder: newton.ModelBuilder
    absent: set[str]
    """Labels of objects of other worlds."""

    poses: dict[str, wp.transform] = attrs.field(factory=dict)
    """Poses of the objects in the world, static ones too."""

    absent_sites: set[str] = attrs.field(factory=set)
    """Labels of the scene's sites on such objects."""

    def find(self, label: str, where: str) -> int:
        """Return the body of a label, or of the last part of a label."""
        labels = self.builder.body_label
        found = _named(label, labels)
        if len(found) == 1:
            return found[0]
        if found:
            raise ConfigError(f"{where}: {label!r} is the label of {len(found)} bodies; give them different ones")
        if label in self.poses:
            raise ConfigError(f"{where}: {label!r} is static, and no joint moves it; change its motion")
        near = did_you_mean(label, [*labels, *map(name_of, labels), *self.poses])
        raise ConfigError(f"{where}: no body {label!r}{near or '; name the label of an object'}")

    def frame(self, label: str | None, where: str) -> Frame:
        """Return the body of a label and the identity; the world and the pose of an object that never moves."""
        if label is None or (label in self.poses and label not in self.builder.body_label):
            return -1, wp.transform_identity() if label is None else self.poses[label]
        return self.find(label, where), wp.transform_identity()

    def site(self, label: str, where: str) -> Frame:
        """Return the body of a site and its pose on this body."""
        builder = self.builder
        sites = [index for index, flags in enumerate(builder.shape_flags) if flags & int(newton.ShapeFlags.SITE)]
        labels = [builder.shape_label[index] for index in sites]
        found = _named(label, labels)
        if len(found) > 1:
            raise ConfigError(f"{where}: {label!r} names {len(found)} sites; write the whole label of one")
        if not found:
            near = did_you_mean(label, [*labels, *map(name_of, labels)])
            raise ConfigError(f"{where}: no site {label!r}{near or '; add it to scene.sites'}")
        return builder.shape_body[sites[found[0]]], builder.shape_transform[sites[found[0]]]

    def joint(self, config: JointConfig, where: str, child: int) -> Joint:
        """Return a joint with its bodies; an object that never moves is a part of the world."""
        label = config.label or f"{self.builder.body_label[child]}_joint"
        parent, origin = self.frame(config.parent, f"{where}.parent")
        return Joint(where=where, config=config, child=child, label=label, parent=parent, origin=origin)


def _named(label: str, labels: Sequence[str]) -> list[int]:
    """Return the indices of a label; without one, those of the labels whose last part it is."""
    whole = [index for index, each in enumerate(labels) if each == label]
    return whole or [index for index, each in enumerate(labels) if name_of(each) == label]


def add_sites(bodies: SceneBodies, sites: Sequence[SceneSiteConfig]) -> None:
    """Add the sites of a scene to the bodies of one world; those on objects of other worlds are left out."""
    _refuse_equal_labels("sites", sites)
    for index, config in enumerate(sites):
        if config.body in bodies.absent:
            bodies.absent_sites.add(config.label)
            continue
        body, origin = bodies.frame(config.body, f"scene.sites[{index}].body")
        pose: Any = wp.transform(config.position, config.rotation)
        bodies.builder.add_site(body, xform=origin * pose, label=config.label)


def add_tendons(bodies: SceneBodies, tendons: Sequence[TendonConfig]) -> None:
    """Add the tendons of a scene to one world; those over objects of other worlds are left out."""
    _refuse_equal_labels("tendons", tendons)
    for index, config in enumerate(tendons):
        if any(each.body in bodies.absent or each.site in bodies.absent_sites for each in config.guides):
            continue
        where = f"scene.tendons[{index}].guides"
        route = [
            _guide(bodies, guide, config, f"{where}[{number}]", is_first=not number)
            for number, guide in enumerate(config.guides)
        ]
        bodies.builder.add_tendon(route, label=config.label)


def _guide(
    bodies: SceneBodies, config: TendonGuideConfig, tendon: TendonConfig, where: str, *, is_first: bool
) -> newton.TendonGuide:
    """Return a guide with the properties of the span before it, which the first guide lacks."""
    if config.site is None:
        body, pose = bodies.frame(config.body, f"{where}.body")
    else:
        body, pose = bodies.site(config.site, f"{where}.site")
    position: Any = wp.vec3(*config.position)
    axis: Any = wp.vec3(*config.axis)
    values: dict[str, Any] = {"offset": wp.transform_point(pose, position), "axis": wp.transform_vector(pose, axis)}
    if not is_first:
        values["compliance"] = tendon.compliance if config.compliance is None else config.compliance
        values["damping"] = tendon.damping if config.damping is None else config.damping
        values["rest_length"] = -1.0 if config.rest_length is None else config.rest_length
    return newton.TendonGuide(
        body=body,
        guide_type=newton.TendonGuideType[config.type.upper()],
        radius=config.radius or 0.0,
        orientation=config.orientation,
        mu=config.mu,
        dynamic=config.is_dynamic,
        **values,
    )


def _refuse_equal_labels(key: str, tables: Sequence[SceneSiteConfig] | Sequence[TendonConfig]) -> None:
    labels = [each.label for each in tables]
    for index, label in enumerate(labels):
        if label in labels[:index]:
            raise ConfigError(f"scene.{key}[{index}].label: {label!r} is the label of another one too; change it")


def add_attachments(bodies: SceneBodies, attachments: Sequence[AttachmentConfig], parts: Sequence[ObjectParts]) -> None:
    """Add the attachments of a scene to one world; those with objects of other worlds are left out.

    Raises:
        ConfigError: An attachment names no body, no object with particles, or a part of it where nothing is.
    """
    poses = start_poses(bodies.builder) if attachments else []
    for index, config in enumerate(attachments):
        where = f"scene.attachments[{index}]"
        if config.body not in bodies.absent:
            builder, body = bodies.builder, bodies.find(config.body, f"{where}.body")
            pose = poses[body]
            stiffness = math.inf if config.stiffness is None else config.stiffness
            for particle in _particles(bodies, config, parts, f"{where}.particles"):
                place: Any = wp.vec3(*builder.particle_q[particle])
                point: Any = config.point or wp.transform_point(wp.transform_inverse(pose), place)
                builder.add_attachment_particle_body(
                    particle, body, body_point=point, stiffness=stiffness, damping=config.damping
                )


def _particles(
    bodies: SceneBodies, config: AttachmentConfig, parts: Sequence[ObjectParts], where: str
) -> Iterator[int]:
    objects = {each.label: each for each in parts if len(each.particles)}
    labels = [*objects, *sorted(bodies.absent - objects.keys())]
    for found in match(config.particles.of, labels, "object with particles", f"{where}.of"):
        if (each := objects.get(labels[found])) is not None:
            world = np.array(bodies.builder.particle_q[each.particles.start : each.particles.stop], dtype=float)
            local = in_frame(world.reshape(-1, 3), np.array(each.pose, dtype=float))
            chosen = chosen_part(local, config.particles, f"{where} in {each.label!r}")
            yield from (each.particles[number] for number in chosen.tolist())


def pinned(world: np.ndarray, selections: Sequence[PinConfig], place: ObjectPose) -> Iterator[int]:
    """Yield the numbers of the particles or bodies of an object that are held, from their positions [m]."""
    local = in_frame(world, np.array(place.pose, dtype=float))
    for index, selection in enumerate(selections):
        yield from chosen_part(local, selection, f"{place.where}.pin[{index}]").tolist()
