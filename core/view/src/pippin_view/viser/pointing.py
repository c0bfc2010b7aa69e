"""Search for the body or the object of matter that a ray into the scene of a page meets first."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import warp as wp
from newton.viewer import Picking
from pippin.arrays import on_host, present
from pippin.labels import name_of
from pippin.matter import SeenMatter

from .page import Page
from .playback import ViewedSimulation


@attrs.frozen(eq=False)
class Pointed:
    """A body or an object that a ray meets first."""

    name: str
    """Its name, without its path."""

    world: int
    """Index of its world; -1 for none."""

    details: str
    """What else the page says about it, as Markdown."""

    place: Callable[[], np.ndarray]
    """Returns the present position of its middle as it is drawn [m], shape [3]."""


class Pointing:
    """Finds what a ray meets first. Static shapes hide bodies; they have no name of their own."""

    def __init__(self, page: Page, shown: ViewedSimulation) -> None:
        self._page, self._shown = page, shown
        model = copy.copy(shown.model)
        if model.body_flags is not None:
            model.body_flags = wp.zeros_like(model.body_flags)  # Newton picks no kinematic body, which has a name, too
        self._picking: Any = Picking(model)

    def under(self, origin: Any, direction: Any) -> Pointed | None:
        """Return what a ray meets first; None for nothing.

        The ray starts at a point of the scene as it is drawn [m]; its direction is a unit vector.
        """
        start, along = np.asarray(origin, dtype=float), np.asarray(direction, dtype=float)
        body, distance = self._body(start, along)
        nearest: SeenMatter | None = None
        for seen, points in self._page.matter.drawn():
            reach = distance_along(start, along, seen, points)
            if reach < distance:
                nearest, distance = seen, reach
        if nearest is not None:
            return self._matter(nearest)
        return None if body < 0 else self._of_body(body)

    def _body(self, start: np.ndarray, along: np.ndarray) -> tuple[int, float]:
        """Return the index of the body that a ray meets, and the distance [m]; -1 and infinity for none."""
        picking, page = self._picking, self._page
        picking.world_offsets = page.world_offsets
        picking.visible_worlds_mask = present(page.picking).visible_worlds_mask
        picking.pick(self._shown.state, wp.vec3(*start), wp.vec3(*along))
        body = picking.pick_body
        if body < 0:
            return -1, math.inf
        hit = np.array(picking.pick_target) + page.offsets_of([self._world_of(body)])[0]
        picking.release()
        return body, float((hit - start) @ along)

    def _world_of(self, body: int) -> int:
        return int(on_host(self._shown.model.body_world)[body])

    def _of_body(self, body: int) -> Pointed:
        model, world = self._shown.model, self._world_of(body)
        joints = [name_of(model.joint_label[joint]) for joint in np.flatnonzero(on_host(model.joint_child) == body)]
        by = f", moved by {', '.join(joints)}" if joints else ""
        mass = float(on_host(model.body_mass)[body])
        details = f"{by}, {mass:.3g} kg  \n`{model.body_label[body]}`"
        return Pointed(
            name_of(model.body_label[body]), world, details, lambda: self._page.body_positions(self._shown)[body]
        )

    def _matter(self, seen: SeenMatter) -> Pointed:
        mass = float(on_host(self._shown.model.particle_mass)[seen.particles].sum())
        details = f", {len(seen.particles)} points to see, {mass:.3g} kg that are not held"
        return Pointed(name_of(seen.label), seen.world, details, lambda: self._page.matter.middle(seen))


def distance_along(start: np.ndarray, along: np.ndarray, seen: SeenMatter, points: np.ndarray) -> float:
    """Return the distance at which a ray meets a surface, or a cloud of spheres [m]; infinity if it does not.

    `start` [m] and the unit vector `along` are the ray, and `points` the positions of the particles [m].
    """
    if not len(seen.faces):
        middles = points - start
        ahead = middles @ along
        inside = seen.radius**2 - (middles * middles).sum(axis=1) + ahead**2
        reach = ahead - np.sqrt(np.maximum(inside, 0.0))
        return float(reach[(inside >= 0.0) & (reach > 0.0)].min(initial=math.inf))
    corner, second, third = (points[seen.faces[:, index]].astype(float) for index in range(3))
    first, other, away = second - corner, third - corner, start - corner
    normal = np.cross(first, other)
    across = -(normal @ along)
    with np.errstate(divide="ignore", invalid="ignore"):  # triangles along the ray, which it does not meet
        turned = np.cross(away, along)
        u, v = (other * turned).sum(axis=1) / across, -(first * turned).sum(axis=1) / across
        reach = (away * normal).sum(axis=1) / across
        is_met = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (reach > 0.0)
    return float(reach[is_met].min(initial=math.inf))
