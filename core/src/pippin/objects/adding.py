"""Addition of the objects of one world to its content."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import attrs
import newton
import warp as wp
from pippin.catalog.entries import Catalog
from pippin.config.joints import JointConfig
from pippin.config.model import FilterConfig, SceneConfig
from pippin.errors import ConfigError
from pippin.labels import match
from pippin.spelling import did_you_mean
from pippin.state.object_parts import ObjectParts

from .copies import placed_copies
from .joints import Joint, add_joints
from .scene_object import Place


def add_objects(
    builder: newton.ModelBuilder, scene: SceneConfig, indices: Collection[int], catalog: Catalog
) -> tuple[ObjectParts, ...]:
    """Add the objects of some indices to the content of one world, with the joints between their bodies.

    Returns:
        Where each object lies in the content.

    Raises:
        ConfigError: Two objects have one label, an object cannot be added, or a joint or a filter names nothing.
    """
    first_body = builder.body_count
    copies = [placed_copies(chosen.config, f"scene.objects[{index}]") for index, chosen in enumerate(scene.objects)]
    _refuse_equal_labels(copies)
    bodies = _Bodies(builder, {label for index, each in enumerate(copies) if index not in indices for label in each})
    joints: list[Joint] = []
    parts: list[ObjectParts] = []
    for index in indices:
        where, chosen = f"scene.objects[{index}]", scene.objects[index]
        kind = catalog.find("object", chosen.type).load()(chosen.config)
        for label, row in copies[index].items():
            pose = wp.transform(*row)
            place = Place(label=label, pose=pose, where=where, labels=list(copies[index]), materials=scene.materials)
            particle_count, body_count = builder.particle_count, builder.body_count
            kind.add_object(builder, place)
            added = range(particle_count, builder.particle_count)
            parts.append(
                ObjectParts(label=label, pose=row, particles=added, bodies=tuple(builder.body_label[body_count:]))
            )
            bodies.poses[label] = pose
            joints += [bodies.joint(config, key, child) for key, child, config in place.joints]
    for index, config in enumerate(scene.joints):
        where = f"scene.joints[{index}]"
        if config.child is None:
            raise ConfigError(f"{where}.child: expected the label of a body, which is required")
        if not {config.child, config.parent} & bodies.absent:
            joints.append(bodies.joint(config, where, bodies.find(config.child, f"{where}.child")))
    add_joints(builder, joints, first_body)
    for index, pair in enumerate(scene.filters):
        _filter(builder, pair, f"scene.filters[{index}]")
    return tuple(parts)


@attrs.define
class _Bodies:
    """The bodies of one world by label, for its joints."""

    builder: newton.ModelBuilder
    absent: set[str]
    """Labels of objects of other worlds."""

    poses: dict[str, wp.transform] = attrs.field(factory=dict)
    """Poses of the objects in the world, static ones too."""

    def find(self, label: str, where: str) -> int:
        """Return the body of a label."""
        found = [index for index, each in enumerate(self.builder.body_label) if each == label]
        if len(found) == 1:
            return found[0]
        if found:
            raise ConfigError(f"{where}: {label!r} is the label of {len(found)} bodies; give them different ones")
        if label in self.poses:
            raise ConfigError(f"{where}: {label!r} is static, and no joint moves it; change its motion")
        near = did_you_mean(label, [*self.builder.body_label, *self.poses])
        raise ConfigError(f"{where}: no body {label!r}{near or '; name the label of an object'}")

    def joint(self, config: JointConfig, where: str, child: int) -> Joint:
        """Return a joint with its bodies; an object that never moves is a part of the world."""
        label = config.label or f"{self.builder.body_label[child]}_joint"
        name = config.parent
        if name is None or (name in self.poses and name not in self.builder.body_label):
            origin = wp.transform_identity() if name is None else self.poses[name]
            return Joint(where=where, config=config, child=child, label=label, origin=origin)
        parent = self.find(name, f"{where}.parent")
        return Joint(where=where, config=config, child=child, label=label, parent=parent)


def _refuse_equal_labels(copies: Sequence[Iterable[str]]) -> None:
    taken: dict[str, str] = {}
    for index, labels in enumerate(copies):
        where = f"scene.objects[{index}]"
        for label in labels:
            if label in taken:
                raise ConfigError(f"{where}.label: {label!r} is a label of {taken[label]} too; choose another one")
            taken[label] = where


def _filter(builder: newton.ModelBuilder, pair: FilterConfig, where: str) -> None:
    """Let two sets of shapes not collide."""
    first, second = (match(getattr(pair, key), builder.shape_label, "shape", f"{where}.{key}") for key in ("a", "b"))
    for one in first:
        for other in second:
            if one != other:
                builder.add_shape_collision_filter_pair(one, other)
