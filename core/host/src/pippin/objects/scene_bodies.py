"""The bodies of one world by label, for what a scene attaches to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import newton
import warp as wp
from pippin.config.joints import JointConfig
from pippin.errors import ConfigError
from pippin.labels import name_of
from pippin.spelling import did_you_mean

from .joints import Joint

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
