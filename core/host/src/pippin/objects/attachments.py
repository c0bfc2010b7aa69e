"""Attachments of a scene: particles of its objects that bodies hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.config.geometry import AttachmentConfig
from pippin.labels import match
from pippin.state.object_parts import ObjectParts, chosen_part, in_frame

from .scene_bodies import SceneBodies


def add_attachments(bodies: SceneBodies, attachments: Sequence[AttachmentConfig], parts: Sequence[ObjectParts]) -> None:
    """Add the attachments of a scene to one world; those with objects of other worlds are left out.

    Raises:
        ConfigError: An attachment names no body, no object with particles, or a part of it where nothing is.
    """
    for index, config in enumerate(attachments):
        where = f"scene.attachments[{index}]"
        if config.body not in bodies.absent:
            body = bodies.find(config.body, f"{where}.body")
            for particle in _particles(bodies, config, parts, f"{where}.particles"):
                _attach(bodies, config, particle, body)


def _attach(bodies: SceneBodies, config: AttachmentConfig, particle: int, body: int) -> None:
    builder = bodies.builder
    pose: Any = builder.body_q[body]
    place: Any = wp.vec3(*builder.particle_q[particle])
    point: Any = config.point or wp.transform_point(wp.transform_inverse(pose), place)
    builder.add_attachment_particle_body(
        particle,
        body,
        body_point=point,
        stiffness=math.inf if config.stiffness is None else config.stiffness,
        damping=config.damping,
    )


def _particles(
    bodies: SceneBodies, config: AttachmentConfig, parts: Sequence[ObjectParts], where: str
) -> Iterator[int]:
    """Yield the particles in this world that an attachment selects."""
    objects = {each.label: each for each in parts if len(each.particles)}
    labels = [*objects, *sorted(bodies.absent - objects.keys())]
    for found in match(config.particles.of, labels, "object with particles", f"{where}.of"):
        if (each := objects.get(labels[found])) is not None:
            world = np.array(bodies.builder.particle_q[each.particles.start : each.particles.stop], dtype=float)
            local = in_frame(world.reshape(-1, 3), np.array(each.pose, dtype=float))
            chosen = chosen_part(local, config.particles, f"{where} in {each.label!r}")
            yield from (each.particles[number] for number in chosen.tolist())
