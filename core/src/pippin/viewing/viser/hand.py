"""Clicks and drags on a page: a click names a body, and a drag pulls it by a damped spring."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.labels import name_of
from pippin.matter import SeenMatter

from .page import Page
from .playback import ViewedSimulation
from .user_input import UserInput

HINT = "A click on a body or a surface names it; Ctrl + drag pulls it."
"""What the page says about it."""

_DAMPING_MAX, _GAIN = 45.0, 0.6
"""Largest damping of the spring [1/s], and the damping by one over a control step, for which its force is constant."""

_COLOUR = (6, 182, 212)
"""Colour of the line from the body to the hand: cyan."""


class Hand:
    """Picks bodies of a page. Its force is one of `state.body_f`: nothing is captured again.

    A recording has no forces, and is only named.
    """

    def __init__(self, page: Page, shown: ViewedSimulation, user_input: UserInput, *, is_recorded: bool) -> None:
        self._page, self._shown, self._user_input, self._is_recorded = page, shown, user_input, is_recorded
        damping = min(_DAMPING_MAX, _GAIN / shown.control_dt)
        self._picking: Any = page.picking
        self._picking.pick_stiffness = damping**2 / 4.0  # critical damping
        self._picking.pick_damping = damping
        self._owner: int | None = None
        self._line: Any = None
        self._label: Any = None
        #: What was clicked last.
        self.text = HINT
        page.on_click, page.on_drag = self._click, self._drag
        page.matter.on_click = self._click_matter

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

    def _pick(self, origin: Any, direction: Any) -> int:
        """Take the body that a ray meets first, and return its index; -1 for none."""
        self._picking.pick(self._shown.state, wp.vec3(*origin), wp.vec3(*direction))
        return self._picking.pick_body

    def _click(self, event: Any) -> None:
        origin, direction = event.ray_origin, event.ray_direction
        self._user_input.put(lambda: self._name(self._pick(origin, direction)))

    def _name(self, body: int) -> None:
        self._picking.release()
        if self._label is not None:
            self._label[1].remove()
            self._label = None
        self.text = HINT
        if body < 0:
            return
        model = self._shown.model
        joints = [name_of(model.joint_label[joint]) for joint in np.flatnonzero(on_host(model.joint_child) == body)]
        name, world = name_of(model.body_label[body]), int(on_host(model.body_world)[body])
        mass = float(on_host(model.body_mass)[body])
        by = f", moved by {', '.join(joints)}" if joints else ""
        self.text = f"**{name}** of world {world}{by}, {mass:.3g} kg  \n`{model.body_label[body]}`"
        self._mark(name, lambda: self._page.body_positions(self._shown)[body])

    def _mark(self, name: str, place: Callable[[], np.ndarray]) -> None:
        """Draw a name at a place that moves."""
        self._label = (place, self._page.add_label("clicked", name, place()))

    def _click_matter(self, seen: SeenMatter) -> None:
        self._user_input.put(lambda: self._name_matter(seen))

    def _name_matter(self, seen: SeenMatter) -> None:
        self._name(-1)
        mass = float(on_host(self._shown.model.particle_mass)[seen.particles].sum())
        held = f", {mass:.3g} kg that are not held"
        self.text = f"**{name_of(seen.label)}** of world {seen.world}, {len(seen.particles)} points to see{held}"
        self._mark(name_of(seen.label), lambda: self._page.matter.middle(seen))

    def _drag(self, event: Any) -> None:
        if self._is_recorded:
            return
        start, end, client = event.start_position, event.end_position, event.client_id
        camera = np.array(event.client.camera.position)
        calls = {"start": lambda: self._take(camera, start, client), "update": lambda: self._move(end, client)}
        self._user_input.put(calls.get(event.phase, lambda: self.release(client)))

    def _take(self, camera: np.ndarray, point: Any, client: int) -> None:
        away = np.array(point) - camera
        if not math.isfinite(away @ away) or self._pick(camera, away / np.linalg.norm(away)) < 0:
            return
        self._owner = client
        self._user_input.changes["pull"] += 1

    def _move(self, target: Any, client: int) -> None:
        if self._picking.is_picking() and client == self._owner:
            world = int(on_host(self._shown.model.body_world)[self._picking.pick_body])
            self._picking.pick_target = wp.vec3(*(np.array(target) - self._page.offsets_of([world])[0]))
