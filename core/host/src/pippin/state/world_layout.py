"""The layout of worlds: the same prototype in all of them, or different prototypes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import attrs
import newton
import numpy as np
from pippin.errors import ConfigError, PluginError
from pippin.indices import IndexRange
from pippin.spelling import listed

from .object_parts import ObjectParts, SceneObjects
from .places import StartPoses

_LISTED_RUN_COUNT = 4
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
        starts = getattr(model, f"{what}_world_start").numpy()
        prototypes = self.prototype_of_world.tolist()
        own: dict[int, np.ndarray] = {}
        for prototype in self._holders_of(component):
            first = prototypes.index(prototype)
            known = IndexRange(int(starts[first + 1] - starts[first]), what=what)
            where = f"{component or 'world_indices'}: prototype {prototype}"
            own[prototype] = known.indices(local[prototype], where, may_repeat=True)
        self._refuse_unequal(what, {prototype: len(indices) for prototype, indices in own.items()})
        return np.array([starts[world] + own[prototypes[world]] for world in self.worlds_held(component)], dtype=int)

    def scene_objects(self, model: newton.Model) -> SceneObjects:
        """Return the objects of all worlds, in which selections find particles and bodies."""
        return SceneObjects(model, self.objects, self.prototype_of_world)

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


def listed_worlds(worlds: Sequence[int] | np.ndarray) -> str:
    """Return ascending indices of worlds as text, with runs as slices: `worlds 0:32, 40`."""
    runs: list[list[int]] = []
    for world in map(int, worlds):
        if runs and runs[-1][-1] == world - 1:
            runs[-1].append(world)
        else:
            runs.append([world])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}:{run[-1] + 1}" for run in runs]
    return f"world{'s' if len(worlds) > 1 else ''} {listed(texts, _LISTED_RUN_COUNT)}"
