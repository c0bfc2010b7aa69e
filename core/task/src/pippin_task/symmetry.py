"""Symmetries of a robot by the names of its parts: observations and actions in a mirror, the plane of x and z."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError
from pippin.axes import axis_labels
from pippin.expressions import compiled
from pippin.labels import name_of

from pippin_task.config import SymmetryConfig

from .observations import ObservationGroup
from .terms import Action


@attrs.frozen(eq=False)
class MirroredColumns:
    """Numbers side by side in a mirror: number `i` is number `index[i]` times `sign[i]`."""

    index: np.ndarray
    """Shape [numbers]."""
    sign: np.ndarray
    """1 or -1, shape [numbers]."""


@attrs.frozen(eq=False)
class MirroredTask:
    """The observations by group, and the action, in a mirror."""

    groups: Mapping[str, MirroredColumns]
    action: MirroredColumns


_POLAR = {"x": 1.0, "y": -1.0, "z": 1.0}
"""Signs of the components of a vector, such as a velocity."""

_AXIAL = {"x": -1.0, "y": 1.0, "z": -1.0}
"""Signs of an axial vector, such as an angular velocity."""

_QUATERNION = {**_AXIAL, "w": 1.0}
_VELOCITY = {"x": 1.0, "y": -1.0, "yaw": -1.0}

_AXIAL_UNITS = ("rad", "N·m")
"""Beginnings of the units of axial vectors."""


class _Parts:
    """The parts of a robot by name, and their signs."""

    def __init__(self, config: SymmetryConfig, where: str, axes: Iterable[str], bodies: Iterable[str]) -> None:
        self.config, self.where, self.axes = config, where, frozenset(axes)
        #: Paths and names of the bodies: terms have either.
        self.bodies: frozenset[str] = frozenset(each for label in bodies for each in (label, name_of(label)))

    def pairs(self, labels: Sequence[str], what: str) -> list[int]:
        """Return for each label the position of its partner, which must be there and mirror it."""
        partners = {label: self._partner(label, labels, what) for label in labels}
        for label, other in list(partners.items()):
            if other != label and partners[other] == other:
                partners[other] = label
        for label, other in partners.items():
            if partners[other] != label:
                raise ConfigError(f"{self.where}.names: {label!r} becomes {other!r}, and that {partners[other]!r}")
        return [labels.index(partners[label]) for label in labels]

    def _partner(self, label: str, labels: Sequence[str], what: str) -> str:
        """Return the label of the part on the other side, by its name, or by its path if several have the name; its own
        if no pattern matches.
        """
        name = self._renamed(name_of(label))
        if name == name_of(label):
            return label
        found = [other for other in labels if name_of(other) == name]
        if len(found) > 1:
            path = "/".join(map(self._renamed, label.split("/")))
            found = [other for other in found if other == path]
        if not found:
            raise ConfigError(f"{self.where}.names: {what} has {label!r}, and no {name!r} for it; choose other names")
        return found[0]

    def _renamed(self, name: str) -> str:
        for pattern, other in self.config.names.items():
            if found := compiled(pattern).fullmatch(name):
                return found.expand(re.sub(r"\$(\d+)", r"\\g<\1>", other))
        return name

    def sign(self, label: str) -> float:
        """Return -1 for an axis that turns the other way round."""
        return -1.0 if any(compiled(pattern).fullmatch(name_of(label)) for pattern in self.config.flip) else 1.0


def mirrored_task(
    config: SymmetryConfig,
    where: str,
    model: Any,
    groups: Mapping[str, ObservationGroup],
    actions: Mapping[str, Action],
) -> MirroredTask:
    """Return how the numbers of a task, its actions side by side, look in the mirror of a symmetry.

    Raises:
        ConfigError: A part has no partner, a pattern matches nothing, or a term has no mirror.
    """
    parts = _Parts(config, where, axis_labels(model, range(model.joint_count)), model.body_label)
    names = {name_of(label) for label in parts.axes}
    for pattern in config.flip:
        if not any(compiled(pattern).fullmatch(name) for name in names):
            raise ConfigError(f"{where}.flip: no joint matches {pattern!r}; names: {', '.join(sorted(names))}")
    columns = [_joints(action.labels, parts, f"actions.{label}") for label, action in actions.items()]
    action = _joined(columns)
    found = {}
    for name, group in groups.items():
        blocks = []
        for label, quantity, chosen, history in group.parts:
            block = _block(quantity, chosen, parts, action, f"observations.{name}.{label}")
            blocks += [block] * history
        found[name] = _joined(blocks)
    return MirroredTask(found, action)


def _block(quantity: Any, chosen: Sequence[int], parts: _Parts, action: MirroredColumns, where: str) -> MirroredColumns:
    every = list(quantity.labels)
    labels = [every[column] for column in chosen]
    if every == [str(number) for number in range(len(action.index))] and len(every) == len(chosen):
        return action
    if parts.axes.issuperset(every):
        return _joints(labels, parts, where)
    if parts.bodies.issuperset(every):  # one number of each, such as a height or a time, which no mirror changes
        return MirroredColumns(np.array(parts.pairs(labels, f"task.{where}")), np.ones(len(labels)))
    ends = {label.rpartition("/")[2] for label in every}
    signs = {frozenset("xyzw"): _QUATERNION, frozenset(_VELOCITY): _VELOCITY}.get(frozenset(ends))
    if signs is None and ends <= set(_POLAR):
        signs = _AXIAL if quantity.unit.startswith(_AXIAL_UNITS) else _POLAR
    if signs is None:
        raise ConfigError(
            f"{parts.where}: task.{where} has no mirror, with {', '.join(every[:4])}; it is neither of joints or bodies"
            ", nor a vector, an orientation, a velocity command or the action: leave the term or the symmetry out"
        )
    heads = [label.rpartition("/")[0] for label in labels]
    owners = list(dict.fromkeys(heads))
    partners = [owners[index] for index in parts.pairs(owners, f"task.{where}")]
    others = dict(zip(owners, partners, strict=True))
    ends_of = [label.rpartition("/")[2] for label in labels]
    wanted = [f"{others[head]}/{end}" if head else end for head, end in zip(heads, ends_of, strict=True)]
    return MirroredColumns(np.array([labels.index(each) for each in wanted]), np.array([signs[end] for end in ends_of]))


def _joints(labels: Sequence[str], parts: _Parts, where: str) -> MirroredColumns:
    unknown = [label for label in labels if label not in parts.axes]
    if unknown:
        raise ConfigError(
            f"{parts.where}: task.{where} has no mirror: {unknown[0]!r} is no joint; leave the term or the symmetry out"
        )
    index = parts.pairs(list(labels), f"task.{where}")
    return MirroredColumns(np.array(index, dtype=int), np.array([parts.sign(label) for label in labels]))


def _joined(blocks: Sequence[MirroredColumns]) -> MirroredColumns:
    firsts = np.cumsum([0, *(len(block.index) for block in blocks)])
    index = [block.index + first for block, first in zip(blocks, firsts, strict=False)]
    sign = [block.sign for block in blocks]
    return MirroredColumns(np.concatenate([np.zeros(0, int), *index]), np.concatenate([np.zeros(0), *sign]))
