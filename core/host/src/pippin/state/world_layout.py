"""The layout of worlds: their prototypes, and their objects, in which a selection means particles and bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, TypeAlias

import attrs
import newton
import numpy as np
from pippin.config.geometry import HERE, UPRIGHT, PartConfig, SelectionConfig, choices_of
from pippin.errors import ConfigError, PluginError
from pippin.indices import IndexRange, listed_worlds
from pippin.labels import covers, match
from pippin.quaternions import conjugate, rotated

from .places import StartPoses

_KINDS = ("body", "joint", "shape")


@attrs.frozen(kw_only=True, eq=False)
class WorldLayout:
    """The prototype of each world, and the prototypes that contain the elements of each component."""

    prototype_of_world: np.ndarray
    """Index of each world's prototype, shape [world_count]."""

    objects: Sequence[Sequence[ObjectParts]] = ()
    """The objects of each prototype."""

    places: StartPoses | None = None
    """Where the worlds start on the terrain; None without one."""

    holders: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    """The prototypes in which a component found its elements, by component; all prototypes if it is not listed."""

    @property
    def prototype_count(self) -> int:
        """Number of distinct prototypes."""
        return int(self.prototype_of_world.max()) + 1

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield prototype and length of each run of neighbouring worlds with one prototype, in world order."""
        for prototype, worlds in groupby(self.prototype_of_world.tolist()):
            yield prototype, len(list(worlds))

    def worlds_of(self, prototypes: Iterable[int]) -> np.ndarray:
        """Return the ascending indices of the worlds with one of these prototypes."""
        return np.flatnonzero(np.isin(self.prototype_of_world, list(prototypes)))

    def worlds_held(self, component: str | None) -> np.ndarray:
        """Return the ascending indices of the worlds with elements of a component; all worlds for None."""
        return self.worlds_of(self._holders_of(component))

    def indices(
        self, model: newton.Model, local: Sequence[int] | Mapping[int, Sequence[int]], what: str, component: str | None
    ) -> np.ndarray:
        """Return the indices in the model of elements found in prototypes, shape [worlds with them, count per world].

        Args:
            model: The model of all worlds.
            local: Indices in the prototype, or a mapping from each prototype to such indices.
            what: Kind of element: "body", "joint" or "shape".
            component: The component that found them; None searches all worlds.

        Raises:
            ConfigError: Some worlds have more of these elements than others, or an index is out of range.
            PluginError: The worlds differ, and `local` is not a mapping from prototypes; or `what` is not such a kind.
        """
        if not isinstance(local, Mapping):
            if self.prototype_count > 1:
                raise PluginError(
                    f"{component}: passes indices of one prototype, but the worlds have"
                    f" {self.prototype_count}; ask for 'prototype' in extend_prototype and pass a mapping"
                )
            local = {0: local}
        if what not in _KINDS:
            raise PluginError(f"{component or 'world_indices'}: expected one of {', '.join(_KINDS)}, got {what!r}")
        starts = getattr(model, f"{what}_world_start").numpy().astype(int)
        own: dict[int, np.ndarray] = {}
        for prototype in self._holders_of(component):
            first = int(np.argmax(self.prototype_of_world == prototype))
            known = IndexRange(int(starts[first + 1] - starts[first]), what=what)
            where = f"{component or 'world_indices'}: prototype {prototype}"
            own[prototype] = known.indices(local[prototype], where, may_repeat=True)
        self._refuse_unequal(what, {prototype: len(indices) for prototype, indices in own.items()})
        worlds = self.worlds_held(component)
        kinds, rows = np.unique(self.prototype_of_world[worlds], return_inverse=True)
        return starts[worlds, None] + np.array([own[kind] for kind in kinds.tolist()], dtype=int)[rows]

    def _holders_of(self, component: str | None) -> tuple[int, ...]:
        everywhere = tuple(range(self.prototype_count))
        return everywhere if component is None else self.holders.get(component, everywhere)

    def _refuse_unequal(self, what: str, counts: Mapping[int, int]) -> None:
        if len(set(counts.values())) > 1:
            plural = {"body": "bodies"}.get(what, f"{what}s")
            texts = [f"{count} in {listed_worlds(self.worlds_of([key]))}" for key, count in counts.items()]
            raise ConfigError(
                f"{plural}: the patterns match {', '.join(texts)}; let them match as many in each world that has any,"
                " or make a component for each kind of world"
            )


_EDGES = {"left": (0, np.min), "right": (0, np.max), "bottom": (1, np.min), "top": (1, np.max)}
"""Axis of an edge in the frame of the object, and its end of it."""

_ENDS: dict[Any, Any] = {"first": (0,), "last": (-1,)}

Element: TypeAlias = Literal["particle", "body"]


@attrs.frozen(kw_only=True, eq=False)
class ObjectParts:
    """One object in a prototype: its label, its pose, and what was added for it."""

    label: str
    pose: np.ndarray
    """Position [m] and orientation of the object's origin in the world, shape [7]."""

    particles: range
    """Its particles, as the prototype counts them."""

    bodies: tuple[str, ...]
    """Labels of its bodies, in their order. Their numbers can change: a solver may need frames merged into links."""

    choose: Literal["turn", "random"] | tuple[int, ...] = ()
    """Which of its variants each world begins with; none keeps the one that was built."""

    copy: int = 0
    """Number among the copies of its object."""


@attrs.frozen(eq=False)
class SceneObjects:
    """The objects of all worlds, in which selections find particles and bodies.

    Args:
        model: The model of all worlds.
        prototypes: The objects of each prototype; none of a prototype that was built in Python.
        prototype_of_world: The prototype of each world, shape [world_count].
    """

    model: newton.Model
    prototypes: Sequence[Sequence[ObjectParts]]
    prototype_of_world: np.ndarray

    def select(self, what: Element, selection: SelectionConfig, where: str) -> np.ndarray:
        """Return the indices in the model of what a selection means, ascending, in all worlds that have it.

        Raises:
            ConfigError: No object with such elements has the label, or nothing is there.
        """
        array: Any = self.model.particle_q if what == "particle" else self.model.body_q
        positions = np.zeros((0, 3)) if array is None else array.numpy()[:, :3].astype(float)
        objects = [self.objects(what, prototype) for prototype in range(int(self.prototype_of_world.max()) + 1)]
        names = list(dict.fromkeys(each.label for of_one in objects for each, _ in of_one))
        named = "object with particles" if what == "particle" else "object or body"
        wanted = {names[index] for index in match(selection.of, names, named, f"{where}.of")}
        starts, prototypes = self.starts(what), self.prototype_of_world.tolist()
        local: list[np.ndarray] = []
        for prototype, of_one in enumerate(objects):
            found = [np.zeros(0, dtype=int)]
            for each, numbers in of_one:
                if each.label in wanted:
                    places = in_frame(positions[starts[prototypes.index(prototype)] + numbers], each.pose)
                    found.append(numbers[chosen_part(places, selection, f"{where} in {each.label!r}")])
            local.append(np.unique(np.concatenate(found)))
        return np.concatenate([starts[world] + local[prototype] for world, prototype in enumerate(prototypes)])

    def particles_or_bodies(self, selection: SelectionConfig, where: str) -> tuple[Element, np.ndarray]:
        """Return what a selection means, particles if an object with particles has the label, and else bodies.

        Raises:
            ConfigError: As `select`.
        """
        prototypes = range(int(self.prototype_of_world.max()) + 1)
        soft = {each.label for prototype in prototypes for each, _ in self.objects("particle", prototype)}
        what: Element = "particle" if any(covers([selection.of], label) for label in soft) else "body"
        return what, self.select(what, selection, where)

    def by_world(self, what: Element, indices: np.ndarray) -> np.ndarray:
        """Return ascending indices of elements as a row for each world, shape [world_count, most], padded with -1."""
        ends = np.searchsorted(indices, self.starts(what)[:-1])
        counts = np.diff(ends)
        found = np.full((len(counts), counts.max(initial=0)), -1, dtype=np.int32)
        worlds = np.repeat(np.arange(len(counts)), counts)
        found[worlds, np.arange(ends[0], ends[-1]) - ends[worlds]] = indices[ends[0] : ends[-1]]
        return found

    def starts(self, what: Element) -> np.ndarray:
        """Return the first particle or body of each world, shape [world_count + 2]: the end of each, too."""
        starts: Any = self.model.particle_world_start if what == "particle" else self.model.body_world_start
        return starts.numpy()

    def objects(self, what: Element, prototype: int) -> list[tuple[ObjectParts, np.ndarray]]:
        """Return the objects of a prototype with elements of a kind, and the numbers of these in each of its worlds.

        A body of a robot or of a plugin is an object of its own.
        """
        objects = self.prototypes[prototype] if prototype < len(self.prototypes) else ()
        if what == "particle":
            return [(each, np.array(each.particles)) for each in objects if len(each.particles)]
        world = self.prototype_of_world.tolist().index(prototype)
        first, end = self.starts(what)[world : world + 2]
        labels = self.model.body_label[first:end]
        numbers = {label: number for number, label in enumerate(labels)}
        found = [(each, [numbers[label] for label in each.bodies if label in numbers]) for each in objects]
        owned = {number for _, own in found for number in own}
        found += [
            (ObjectParts(label=label, pose=np.array([*HERE, *UPRIGHT]), particles=range(0), bodies=(label,)), [number])
            for number, label in enumerate(labels)
            if number not in owned
        ]
        return [(each, np.array(own)) for each, own in found if own]


def chosen_part(local: np.ndarray, selection: PartConfig, where: str) -> np.ndarray:
    """Return the ascending numbers of the elements of an object that a selection means.

    `local` has their positions in the frame of the object [m], shape [count, 3].

    Raises:
        ConfigError: Nothing is there.
    """
    for key in choices_of(selection):
        value: Any = getattr(selection, key)
        if key in ("index", "part"):
            return _numbered(_ENDS.get(value, value), len(local), f"{where}.{key}")
        if key == "nearest":
            return np.linalg.norm(local - np.array(value), axis=1).argmin(keepdims=True)
        if key == "box":
            low, high = np.array(value)
            inside = ((local >= low) & (local <= high)).all(axis=1)
        else:
            inside = _at_edges(local, value.split("-"))
        if not inside.any():
            bounds = f"{local.min(axis=0).round(4).tolist()} to {local.max(axis=0).round(4).tolist()}"
            raise ConfigError(
                f"{where}.{key}: nothing is there; the object reaches from {bounds} [m] in its frame; choose a part"
                " of this"
            )
        return np.flatnonzero(inside)
    return np.arange(len(local))


def in_frame(positions: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Return positions in the world [m] in the frame of an object, shape [count, 3]."""
    return rotated(conjugate(pose[3:]), positions - pose[:3])


def _numbered(numbers: Sequence[int], count: int, where: str) -> np.ndarray:
    wrong = [number for number in numbers if not -count <= number < count]
    if wrong:
        raise ConfigError(f"{where}: {wrong[0]}, but the object has {count}; count from 0 to {count - 1}")
    return np.unique(np.array(numbers) % count)


def _at_edges(local: np.ndarray, names: Sequence[str]) -> np.ndarray:
    found = np.ones(len(local), dtype=bool)
    for name in names:
        axis, end = _EDGES[name]
        values = local[:, axis]
        found &= np.abs(values - end(values)) < 1e-4 * max(1e-9, float(np.ptp(values)))
    return found
