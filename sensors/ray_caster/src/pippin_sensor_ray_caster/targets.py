"""Targets of rays: the shapes of each world, and the shapes that all worlds share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import ConfigError, labels
from pippin.arrays import on_host

__all__ = ["Targets"]

FEW = 8
"""Number of targets of a world up to which a ray tries each of them, which costs less than a tree of boxes."""


@attrs.frozen(kw_only=True, eq=False)
class Targets:
    """The shapes that the rays of each world can meet."""

    shapes: wp.array[int]
    """Every target once, as an index into the model's shapes, shape [targets]; those in boxes first."""
    boxed: int
    """Number of targets in boxes."""
    group_of: wp.array[int]
    """Group of each box, shape [boxed]: the row of its world, or the number of worlds if all worlds share it."""
    groups: wp.array2d[int]
    """Groups of boxes in each world, -1 for none, shape [worlds, 2]."""
    members: wp.array[int]
    """Indices into `shapes` of the others, world by world."""
    starts: wp.array[int]
    """Index into `members` of each world's first one, shape [worlds + 1]."""

    @classmethod
    def find(cls, model: newton.Model, worlds: np.ndarray, patterns: Sequence[str], *, moving: bool) -> Targets:
        """Return the targets of some worlds.

        Args:
            model: The model of all worlds.
            worlds: Indices of worlds, ascending.
            patterns: Patterns of shape labels.
            moving: Whether shapes of bodies are included.

        Raises:
            ConfigError: A pattern matches nothing that a ray can meet, or a shape whose surface is not known.
        """
        world_of_shape = on_host(model.shape_world)
        is_here = _has_surface(model) & np.isin(world_of_shape, [-1, *worlds])
        is_static = on_host(model.shape_body) < 0
        static, on_bodies = (_labels_of(model, is_here & mask) for mask in (is_static, ~is_static))
        chosen = _matching(patterns, static, on_bodies, moving=moving)
        is_chosen = np.array([label in chosen for label in model.shape_label])
        shapes = np.flatnonzero(is_here & is_chosen & (is_static | moving))
        _refuse_barrels(model, shapes)
        members = _by_world(world_of_shape[shapes], worlds)
        is_boxed = on_host(model.shape_type)[shapes] != newton.GeoType.PLANE
        is_boxed &= max(map(len, members)) > FEW
        shapes = np.concatenate([shapes[is_boxed], shapes[~is_boxed]])
        boxed, shared = int(np.count_nonzero(is_boxed)), len(worlds)
        of_boxes = world_of_shape[shapes[:boxed]]
        group_of = np.where(of_boxes < 0, shared, np.searchsorted(worlds, of_boxes))
        groups = np.stack([np.arange(shared), np.full(shared, shared)], axis=1)
        members = _by_world(world_of_shape[shapes[boxed:]], worlds)
        arrays = {
            "shapes": shapes,
            "group_of": group_of,
            "groups": np.where(np.isin(groups, group_of), groups, -1),
            "members": boxed + np.concatenate(members),
            "starts": np.cumsum([0, *map(len, members)]),
        }
        on_device: dict[str, Any] = {
            name: wp.array(array, dtype=int, device=model.device) for name, array in arrays.items()
        }
        return cls(boxed=boxed, **on_device)


def _has_surface(model: newton.Model) -> np.ndarray:
    """Return a mask of the shapes that rays can meet: no sites, and no clouds of Gaussians."""
    is_site = on_host(model.shape_flags) & newton.ShapeFlags.SITE != 0
    cloudy = [newton.GeoType.NONE, newton.GeoType.GAUSSIAN]
    return ~is_site & ~np.isin(on_host(model.shape_type), cloudy)


def _labels_of(model: newton.Model, mask: np.ndarray) -> list[str]:
    """Return each label of some shapes once: worlds repeat them."""
    return [*dict.fromkeys(model.shape_label[shape] for shape in np.flatnonzero(mask))]


def _matching(patterns: Sequence[str], static: list[str], on_bodies: list[str], *, moving: bool) -> set[str]:
    """Return the labels that patterns match.

    Raises:
        ConfigError: A pattern matches none; the error says if it would match shapes of bodies.
    """
    names = [*static, *on_bodies] if moving else static
    what = "shape" if moving else "static shape"
    try:
        return {names[index] for index in labels.match(patterns, names, what=what, where="targets")}
    except labels.NoMatchError as error:
        if moving or not any(labels.covers(patterns, name) for name in on_bodies):
            raise
        cure = "targets: shapes of bodies match; rays meet them with moving = true"
        raise ConfigError(*error.faults, cure) from error


def _refuse_barrels(model: newton.Model, shapes: np.ndarray) -> None:
    is_cylinder = on_host(model.shape_type)[shapes] == newton.GeoType.CYLINDER
    for shape in shapes[is_cylinder & (on_host(model.shape_scale)[shapes, 2] > 0.0)]:
        raise ConfigError(
            f"targets: shape {model.shape_label[shape]!r} is a cylinder with the sides of a barrel, which rays do not"
            " know; use targets that leave it out, or make it a mesh"
        )


def _by_world(world_of_target: np.ndarray, worlds: np.ndarray) -> list[np.ndarray]:
    """Return the indices of each world's targets, including targets that belong to no world."""
    order = np.argsort(world_of_target, kind="stable")
    first, last = (np.searchsorted(world_of_target, worlds, side, sorter=order) for side in ("left", "right"))
    shared = order[: np.count_nonzero(world_of_target == -1)]
    return [np.concatenate([shared, order[i:j]]) for i, j in zip(first, last, strict=True)]
