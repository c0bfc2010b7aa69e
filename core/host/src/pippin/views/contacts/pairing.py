"""Sensors of a contact view, which are bodies, and the counterparts that split their contacts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.views.selection import Pattern, Patterns, SelectionError, listed, pattern_text, select


@attrs.frozen
class Counterpart:
    """The counterpart of a column: a body with all its shapes, or static shapes."""

    label: str
    world: int = attrs.field(eq=False)
    shapes: tuple[int, ...]


@attrs.frozen
class SensorGroup:
    """Indices of sensor bodies with the same filters, and these filters."""

    bodies: tuple[int, ...]
    filters: tuple[Pattern, ...]


def sensor_groups(
    model: newton.Model, sensors: Patterns, filters: Sequence[Any], worlds: Sequence[int] | None, *, path_glob: bool
) -> list[SensorGroup]:
    """Return the sensors in groups with equal filters; the arguments are those of `RigidContactView`."""
    of_body = on_host(model.body_world)
    options = {"what": "body", "chosen_worlds": worlds, "path_glob": path_glob}
    groups = [
        SensorGroup(tuple(select(patterns, model.body_label, of_body, **options).tolist()), tuple(own))
        for patterns, own in _matched(sensors, filters)
    ]
    seen: set[int] = set()
    for group in groups:
        twice = sorted(seen.intersection(group.bodies))
        if twice:
            label = model.body_label[twice[0]]
            raise SelectionError(
                f"sensors: {label!r} matches two patterns of sensors with different filters; make two views"
            )
        seen.update(group.bodies)
    return groups


def pair(model: newton.Model, group: SensorGroup, *, path_glob: bool) -> list[tuple[Counterpart, ...]]:
    """Return the counterparts of each sensor of a group, in the order of its filters.

    In each world, a filter matches either one object, which all sensors of this world share, or as many objects as
    there are sensors, which are paired in order. An object of no world counts in every world.

    Raises:
        SelectionError: A filter matches nothing, or a wrong number of objects.
    """
    columns = [list(_column(model, group, pattern, path_glob)) for pattern in group.filters]
    return [tuple(column[row] for column in columns) for row in range(len(group.bodies))]


def _matched(sensors: Patterns, filters: Sequence[Any]) -> Iterator[tuple[Patterns, Sequence[Pattern]]]:
    filters = listed(filters)
    nested = [isinstance(each, list | tuple) for each in filters]
    if not any(nested):
        yield sensors, filters
        return
    patterns: list[Patterns] = listed(sensors)
    if not all(nested) or len(filters) != len(patterns):
        raise SelectionError(
            f"filters: expected patterns for all sensors, or {len(patterns)} lists of them, one per sensor pattern;"
            f" got {filters!r}"
        )
    yield from zip(patterns, filters, strict=True)


def _column(model: newton.Model, group: SensorGroup, pattern: Pattern, path_glob: bool) -> Iterator[Counterpart]:
    found = _counterparts(model, pattern, path_glob)
    worlds = on_host(model.body_world)[list(group.bodies)].tolist()
    sensor_count = Counter(worlds)
    own = defaultdict(list)
    for each in found:
        own[each.world].append(each)
    # A sensor of no world may touch all objects, and the others those of their world and of no world.
    found_in = {world: found if world < 0 else own[world] + own[-1] for world in sensor_count}
    passed: Counter[int] = Counter()
    for world in worlds:
        choice = found_in[world]
        if len(choice) not in (1, sensor_count[world]):
            raise SelectionError(
                f"filter {pattern_text(pattern)!r}: matches {len(choice)} objects in world {world}, which has"
                f" {sensor_count[world]} sensors; use a pattern that matches one object, which all sensors share, or"
                " one object per sensor"
            )
        yield choice[0] if len(choice) == 1 else choice[passed[world]]
        passed[world] += 1


def _counterparts(model: newton.Model, pattern: Pattern, path_glob: bool) -> list[Counterpart]:
    """Return the counterparts that a filter matches.

    These are bodies, matched by their own label or by a shape's label; else static shapes, matched by their label or by
    a path above them, which stands for all shapes below it.
    """
    body_of, shape_world, body_world = map(on_host, (model.shape_body, model.shape_world, model.body_world))
    bodies = _chosen(pattern, model.body_label, body_world, path_glob)
    if not bodies and not isinstance(pattern, int):
        shapes = _chosen(pattern, model.shape_label, shape_world, path_glob)
        bodies = list(dict.fromkeys(int(body_of[shape]) for shape in shapes if body_of[shape] >= 0))
        static = [shape for shape in shapes if body_of[shape] < 0]
        if not bodies and static:
            return [Counterpart(model.shape_label[shape], int(shape_world[shape]), (shape,)) for shape in static]
    if bodies:
        return [
            Counterpart(model.body_label[body], int(body_world[body]), tuple(model.body_shapes[body]))
            for body in bodies
        ]
    return _paths_above(model, pattern, path_glob)


def _paths_above(model: newton.Model, pattern: Pattern, path_glob: bool) -> list[Counterpart]:
    """Return the paths above static shapes that a filter matches, with the shapes below each."""
    shape_world = on_host(model.shape_world)
    below: dict[tuple[str, int], list[int]] = defaultdict(list)
    static = np.flatnonzero(on_host(model.shape_body) < 0).tolist()
    for shape in static:
        label = model.shape_label[shape]
        while label := label.rpartition("/")[0]:
            below[label, int(shape_world[shape])].append(shape)
    places = list(below)
    labels, worlds = [label for label, _ in places], np.array([world for _, world in places], dtype=int)
    found = _chosen(pattern, labels, worlds, path_glob)
    if not found:
        known = [*model.body_label, *(model.shape_label[shape] for shape in static)]
        # Nothing matches: this call raises an error that suggests the nearest name.
        select(pattern, known, np.zeros(len(known)), what="body or static shape", path_glob=path_glob)
    return [Counterpart(*places[index], tuple(below[places[index]])) for index in found]


def _chosen(pattern: Pattern, labels: Sequence[str], worlds: np.ndarray, path_glob: bool) -> list[int]:
    return select(pattern, labels, worlds, what="body", path_glob=path_glob, allow_empty=True).tolist()
