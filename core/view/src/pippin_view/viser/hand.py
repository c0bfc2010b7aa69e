"""Pointing on a page: a click names a body or an object of matter, and a drag pulls a body by a spring."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import attrs
import numpy as np
import warp as wp
from newton.viewer import Picking
from pippin.arrays import on_host, present
from pippin.labels import name_of
from pippin.matter import RenderMatter
from pippin.report import Markdown, markdown

from .page import Page
from .playback import ViewedSimulation
from .user_input import UserInput


@attrs.frozen(eq=False)
class Pointed:
    """A body or an object that a ray meets first."""

    name: str
    """Its name, without its path."""

    world: int
    """Index of its world; -1 for none."""

    details: Markdown
    """What else the page says about it."""

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
        nearest: RenderMatter | None = None
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
        details = markdown("{}, {} kg  \n{}", by, f"{mass:.3g}", model.body_label[body])
        return Pointed(
            name_of(model.body_label[body]), world, details, lambda: self._page.body_positions(self._shown)[body]
        )

    def _matter(self, seen: RenderMatter) -> Pointed:
        mass = float(on_host(self._shown.model.particle_mass)[seen.particles].sum())
        details = markdown(", {} points to see, {} kg that are not held", len(seen.particles), f"{mass:.3g}")
        return Pointed(name_of(seen.label), seen.world, details, lambda: self._page.matter.middle(seen))


def distance_along(start: np.ndarray, along: np.ndarray, seen: RenderMatter, points: np.ndarray) -> float:
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


HINT = markdown("A click on a body or a surface tells its mass; Ctrl + drag pulls it.")
"""What the page says about it."""

_DAMPING_MAX, _GAIN = 45.0, 0.6
"""Largest damping of the spring [1/s], and the damping by one over a control step, for which its force is constant."""

_COLOUR = (6, 182, 212)
"""Colour of the line from the body to the hand: cyan."""


class BodyPicker:
    """Picks bodies of a page. Its force is one of `state.body_f`: nothing is captured again.

    A recording has no forces, and is only named.
    """

    def __init__(self, page: Page, shown: ViewedSimulation, user_input: UserInput, *, is_recorded: bool) -> None:
        self._page, self._shown, self._user_input, self._is_recorded = page, shown, user_input, is_recorded
        damping = min(_DAMPING_MAX, _GAIN / shown.control_dt)
        self._picking: Any = present(page.picking)
        self._picking.pick_stiffness = damping**2 / 4.0  # critical damping
        self._picking.pick_damping = damping
        self._pointing = Pointing(page, shown)
        self._owner: int | None = None
        self._line: Any = None
        self._label: Any = None
        #: What was clicked last.
        self.text = HINT
        page.on_click, page.on_drag = self._click, self._drag
        page.guard.on_pointer = self.name_under

    def act(self) -> bool:
        """Pull the body, and tell whether there is one. Called once before each control step."""
        if not self._picking.is_picking():
            return False
        self._picking.apply_force(self._shown.state)
        return True

    def show(self) -> None:
        """Draw the line from the body to the hand, and move the name along with its body."""
        ends = self._ends()
        if ends is not None and self._line is None:
            self._line = self._page.server.scene.add_line_segments(
                "/hand", ends, _COLOUR, thickness=4.0, thickness_units="screen"
            )
        if self._line is not None:
            self._line.visible = ends is not None
            self._line.points = self._line.points if ends is None else ends
        if self._label is not None:
            place, handle = self._label
            handle.position = place()

    def release(self, client: int | None = None) -> None:
        """Let go, if a client that is named holds the body."""
        if self._picking.is_picking() and client in (None, self._owner):
            self._picking.release()

    def _ends(self) -> np.ndarray | None:
        """Return the ends of the spring as they are drawn, shape [1, 2, 3]."""
        if not self._picking.is_picking():
            return None
        world = int(on_host(self._shown.model.body_world)[self._picking.pick_body])
        offset = self._page.offsets_of([world])[0]
        ends = [np.array(each) + offset for each in (self._picking.pick_point, self._picking.pick_target)]
        return np.array([ends], dtype=np.float32)

    def name_under(self, origin: Any, direction: Any) -> Future[str]:
        """Return a future that is the name of what a ray meets; empty for nothing, and while a body is pulled."""
        future: Future[str] = Future()

        def answer() -> None:
            if future.set_running_or_notify_cancel():  # else the server waits no more
                future.set_result(self._name_under(origin, direction))

        self._user_input.put(answer)
        return future

    def _name_under(self, origin: Any, direction: Any) -> str:
        pointed = None if self._picking.is_picking() else self._pointing.under(origin, direction)
        if pointed is None:
            return ""
        return f"{pointed.name} of world {pointed.world}" if self._shown.world_count > 1 else pointed.name

    def _click(self, event: Any) -> None:
        origin, direction = event.ray_origin, event.ray_direction
        self._user_input.put(lambda: self._name(self._pointing.under(origin, direction)))

    def _name(self, pointed: Pointed | None) -> None:
        if self._label is not None:
            self._label[1].remove()
            self._label = None
        self.text = HINT
        if pointed is not None:
            self.text = markdown("**{}** of world {}{}", pointed.name, pointed.world, pointed.details)
            self._label = (pointed.place, self._page.add_label("clicked", pointed.name, pointed.place()))

    def _drag(self, event: Any) -> None:
        if self._is_recorded:
            return
        start, end, client = event.start_position, event.end_position, event.client_id
        camera = np.array(event.client.camera.position)
        calls = {"start": lambda: self._take(camera, start, client), "update": lambda: self._move(end, client)}
        self._user_input.put(calls.get(event.phase, lambda: self.release(client)))

    def _take(self, camera: np.ndarray, point: Any, client: int) -> None:
        away = np.array(point) - camera
        if not math.isfinite(away @ away):
            return
        self._picking.pick(self._shown.state, wp.vec3(*camera), wp.vec3(*(away / np.linalg.norm(away))))
        if self._picking.is_picking():
            self._owner = client
            self._user_input.changes["pull"] += 1

    def _move(self, target: Any, client: int) -> None:
        if self._picking.is_picking() and client == self._owner:
            world = int(on_host(self._shown.model.body_world)[self._picking.pick_body])
            self._picking.pick_target = wp.vec3(*(np.array(target) - self._page.offsets_of([world])[0]))
