"""Partners of contacts: bodies, and shapes such as the ground, found by their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import newton
import numpy as np
import pippin
from pippin import labels
from pippin.arrays import on_host

__all__ = ["Partners", "colliding", "find_partners", "refuse_shapeless"]

LISTED_COUNT = 5


@attrs.frozen(kw_only=True, eq=False)
class Partners:
    """The columns of a force matrix."""

    bodies: list[int]
    """Indices of the partner bodies of all worlds in the model."""

    shapes: list[int]
    """Indices of the partner shapes in the model: shapes that no world owns, then shapes of all worlds."""

    labels: tuple[str, ...]
    """Labels of the columns: bodies, then shapes that no world owns, then other shapes, each in the model's order."""


def colliding(flags: Sequence[int]) -> list[int]:
    """Return the indices of the shapes that can touch another one: no sites, and no shapes for drawing only."""
    return [index for index, flag in enumerate(flags) if flag & newton.ShapeFlags.COLLIDE_SHAPES]


def refuse_shapeless(patterns: Sequence[str], builder: newton.ModelBuilder) -> None:
    """Refuse patterns that match no body with a shape that collides.

    Args:
        patterns: Full-match regular expressions of body labels; each matches something.
        builder: One world's prototype.

    Raises:
        ConfigError: A pattern's bodies have no such shape, so their forces would be zero for ever; one fault for each.
    """
    touching = {builder.shape_body[shape] for shape in colliding(builder.shape_flags)}
    faults = []
    for pattern in patterns:
        found = labels.match([pattern], builder.body_label, what="body", where="bodies")
        if touching.isdisjoint(found):
            names = ", ".join(repr(builder.body_label[body]) for body in found[:LISTED_COUNT])
            more = f" and {len(found) - LISTED_COUNT} more" if len(found) > LISTED_COUNT else ""
            faults.append(
                f"bodies: {pattern!r} matches {names}{more}, without a shape that collides, so no contact would ever be"
                " sensed; name bodies that have collision shapes"
            )
    if faults:
        raise pippin.ConfigError(*faults)


def find_partners(patterns: Sequence[str], binding: pippin.Binding) -> Partners:
    """Return the bodies that patterns match; a pattern that matches no body selects shapes.

    Args:
        patterns: Full-match regular expressions of names, or of whole labels if they contain a `/`.
        binding: The binding of the component that looks for partners.

    Raises:
        ConfigError: A pattern matches nothing, or different numbers of elements in the worlds.
    """
    model = binding.simulation.model
    chosen = {prototype: _choose(patterns, model, world) for prototype, world in _examples(binding)}
    bodies = binding.indices("body", {key: found[0] for key, found in chosen.items()})
    shapes = binding.indices("shape", {key: found[1] for key, found in chosen.items()})
    owned_by_none = sorted(set().union(*(found[2] for found in chosen.values())))
    names = [model.body_label[body] for body in bodies[0]]
    names += [model.shape_label[shape] for shape in (*owned_by_none, *shapes[0])]
    return Partners(bodies=bodies.ravel().tolist(), shapes=owned_by_none + shapes.ravel().tolist(), labels=tuple(names))


def _examples(binding: pippin.Binding) -> Iterator[tuple[int, int]]:
    """Yield each prototype of the component's worlds, with one world of that prototype."""
    worlds = binding.worlds
    prototypes, first = np.unique(binding.simulation.prototype_of_world[worlds], return_index=True)
    yield from zip(prototypes.tolist(), worlds[first].tolist(), strict=True)


def _choose(patterns: Sequence[str], model: newton.Model, world: int) -> tuple[list[int], list[int], list[int]]:
    """Return indices of partners: in a world's bodies, in its shapes, and of the model's shapes that no world owns."""
    body_start, shape_start = (on_host(each).tolist() for each in (model.body_world_start, model.shape_world_start))
    bodies = list(range(body_start[world], body_start[world + 1]))
    is_owned = range(shape_start[0], shape_start[-2])
    is_here = range(shape_start[world], shape_start[world + 1])
    shapes = [
        index for index in colliding(on_host(model.shape_flags).tolist()) if index in is_here or index not in is_owned
    ]
    names = [*(model.body_label[body] for body in bodies), *(model.shape_label[shape] for shape in shapes)]
    labels.match(patterns, names, what="partner", where="partners")  # every fault at once
    found: set[int] = set()
    for pattern in patterns:
        matches = labels.match(pattern, names, what="partner", where="partners")
        found |= {index for index in matches if index < len(bodies) or matches[0] >= len(bodies)}
    chosen = [shapes[index - len(bodies)] for index in sorted(found) if index >= len(bodies)]
    return (
        [index for index in sorted(found) if index < len(bodies)],
        [index - is_here.start for index in chosen if index in is_here],
        [index for index in chosen if index not in is_here],
    )
