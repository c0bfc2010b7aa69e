"""Addition of the objects of one world to its content."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product

import newton
import warp as wp
from pippin.catalog.entries import Catalog
from pippin.config.model import SceneConfig
from pippin.errors import ConfigError
from pippin.labels import match
from pippin.state.world_layout import ObjectParts

from .attributes import counts_of, set_attributes
from .joints import Joint, add_joints
from .scene_bodies import SceneBodies, add_attachments, add_sites, add_tendons
from .scene_object import ObjectPose, placed_copies


def add_objects(
    builder: newton.ModelBuilder, scene: SceneConfig, indices: Collection[int], catalog: Catalog
) -> tuple[ObjectParts, ...]:
    """Add the objects of some indices to the content of one world, with joints, sites, tendons and
    attachments on their bodies.

    Returns:
        Where each object lies in the content.

    Raises:
        ConfigError: Two objects have one label, an object cannot be added, or something on its bodies names nothing.
    """
    first_body = builder.body_count
    copies = [placed_copies(chosen.config, f"scene.objects[{index}]") for index, chosen in enumerate(scene.objects)]
    _refuse_equal_labels(copies)
    bodies = SceneBodies(
        builder, {label for index, each in enumerate(copies) if index not in indices for label in each}
    )
    joints: list[Joint] = []
    parts: list[ObjectParts] = []
    for index in indices:
        where, chosen = f"scene.objects[{index}]", scene.objects[index]
        kind = catalog.find("object", chosen.type).load()(chosen.config)
        for number, (label, row) in enumerate(copies[index].items()):
            pose = wp.transform(*row)
            place = ObjectPose(
                label=label, pose=pose, where=where, labels=list(copies[index]), materials=scene.materials
            )
            particle_count, body_count, before = builder.particle_count, builder.body_count, counts_of(builder)
            kind.add_object(builder, place)
            set_attributes(builder, chosen.config.attributes, before, where)
            added = range(particle_count, builder.particle_count)
            own = tuple(builder.body_label[body_count:])
            choose = getattr(chosen.config, "choose", ())
            parts.append(ObjectParts(label=label, pose=row, particles=added, bodies=own, choose=choose, copy=number))
            bodies.poses[label] = pose
            joints += [bodies.joint(config, key, child) for key, child, config in place.joints]
    for index, config in enumerate(scene.joints):
        where = f"scene.joints[{index}]"
        if config.child is None:
            raise ConfigError(f"{where}.child: expected the label of a body, which is required")
        if not {config.child, config.parent} & bodies.absent:
            joints.append(bodies.joint(config, where, bodies.find(config.child, f"{where}.child")))
    add_joints(builder, joints, first_body)
    add_sites(bodies, scene.sites)
    add_tendons(bodies, scene.tendons)
    add_attachments(bodies, scene.attachments, parts)
    for index, pair in enumerate(scene.filters):
        where = f"scene.filters[{index}]"
        sides = (match(getattr(pair, key), builder.shape_label, "shape", f"{where}.{key}") for key in ("a", "b"))
        for one, other in product(*sides):
            if one != other:
                builder.add_shape_collision_filter_pair(one, other)
    return tuple(parts)


def _refuse_equal_labels(copies: Sequence[Iterable[str]]) -> None:
    taken: dict[str, str] = {}
    for index, labels in enumerate(copies):
        where = f"scene.objects[{index}]"
        for label in labels:
            if label in taken:
                raise ConfigError(f"{where}.label: {label!r} is a label of {taken[label]} too; choose another one")
            taken[label] = where
