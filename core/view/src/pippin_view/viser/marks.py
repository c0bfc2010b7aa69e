"""Marks in the image of a page: names of bodies, joints and matter, and contacts with their forces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from pippin import Host
from pippin.arrays import on_host
from pippin.labels import name_of
from pippin.recording.channels import Channel, channels

from .page import Page
from .playback import ViewedSimulation


class Names:
    """Labels that move along with bodies and joints."""

    def __init__(self, page: Page, shown: ViewedSimulation) -> None:
        self._page, self._shown = page, shown
        #: Whether the names of bodies and of joints are drawn.
        self.shows_bodies = self.shows_joints = False
        self._handles: dict[str, Any] = {}
        self._drawn: tuple[Any, ...] = ()

    def show(self, world: int) -> None:
        """Draw the names of a world where its bodies are now."""
        wanted = (world, self.shows_bodies, self.shows_joints)
        if wanted != self._drawn:
            self._drawn = wanted
            for handle in self._handles.values():
                handle.remove()
            self._handles = {}
        if not (self.shows_bodies or self.shows_joints):
            return
        for key, (text, position) in self._places(world).items():
            if key in self._handles:
                self._handles[key].position = position
            else:
                self._handles[key] = self._page.add_label(key, text, position)

    def _places(self, world: int) -> dict[str, tuple[str, np.ndarray]]:
        page, model, found = self._page, self._shown.model, {}
        cables = [seen for seen in page.matter.cables if seen.world == world]
        segments = [body for cable in cables for body in cable.bodies]
        bodies = ("body", model.body_world, model.body_label, page.body_positions) if self.shows_bodies else None
        joints = ("joint", model.joint_world, model.joint_label, page.joint_positions) if self.shows_joints else None
        for kind, worlds, labels, positions_of in filter(None, (bodies, joints)):
            positions = positions_of(self._shown)
            here = np.flatnonzero(on_host(worlds) == world)
            for index in np.setdiff1d(here, segments) if kind == "body" else here:
                found[f"{kind}_{index}"] = (name_of(labels[index]), positions[index])
        for index, cable in enumerate(cables if self.shows_bodies else ()):
            middle = page.body_positions(self._shown)[cable.bodies].mean(axis=0)
            found[f"cable_{index}"] = (name_of(cable.label), middle)
        for index, seen in enumerate(page.matter.of_world(world) if self.shows_bodies else ()):
            found[f"matter_{index}"] = (name_of(seen.label), page.matter.middle(seen))
        return found


POINT, FORCE = (245, 158, 11), (0, 70, 255)
"""Colours of a contact and of its force: amber and blue."""

_SIZE_MAX = 64
"""Number of contacts of a world that can be drawn."""

_WEIGHT = 1.0
"""Length of the arrow for the weight of a world's contents, in radii of the sphere around them."""


class ContactMarks:
    """Marks of the contacts in the worlds of a page."""

    def __init__(self, page: Page, shown: Host, worlds: Sequence[int]) -> None:
        #: Whether points, and whether forces are drawn.
        self.shows_points = self.shows_forces = False
        #: Length of the arrows [m/N].
        self.scale = _scale(shown, worlds, page.radius_of(shown, worlds[:1]))
        self._page, self._groups = page, list(_groups(shown, worlds))
        self._thickness = 0.035 * page.radius_of(shown, worlds[:1])
        self._points: Any = None
        self._forces: Any = None

    def show(self, worlds: Sequence[int]) -> None:
        """Draw the contacts of some worlds as they are now."""
        self._page.is_transparent = self.shows_forces  # else the robot would hide the arrows
        if not (self.shows_points or self.shows_forces):
            self._draw(np.zeros((0, 3)), np.zeros((0, 2, 3)))
            return
        found = [_contacts(own, data, worlds, self._page) for own, data in self._groups]
        points = np.concatenate([each[0] for each in found])
        arrows = np.stack([points, points + self.scale * np.concatenate([each[1] for each in found])], axis=1)
        is_long = np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1) > self._thickness
        self._draw(points if self.shows_points else points[:0], arrows[is_long] if self.shows_forces else arrows[:0])

    def _draw(self, points: np.ndarray, arrows: np.ndarray) -> None:
        scene, thickness = self._page.server.scene, self._thickness
        if self._points is None and len(points):
            self._points = scene.add_point_cloud(
                "/contacts/points", points, POINT, point_size=2.0 * thickness, point_shape="circle"
            )
        elif self._points is not None:
            self._points.visible = len(points) > 0
            self._points.points = points.astype(np.float32)
        if self._forces is None and len(arrows):
            self._forces = scene.add_arrows(
                "/contacts/forces",
                arrows,
                FORCE,
                shaft_radius=0.7 * thickness,
                head_radius=1.6 * thickness,
                head_length=3.0 * thickness,
            )
        elif self._forces is not None:
            self._forces.visible = len(arrows) > 0
            if len(arrows):
                self._forces.points = arrows.astype(np.float32)


def _groups(shown: Host, worlds: Sequence[int]) -> Iterable[tuple[np.ndarray, dict[str, Channel]]]:
    prototypes = np.asarray(shown.prototype_of_world)[list(worlds)]
    for prototype in np.unique(prototypes):
        own = np.asarray(worlds)[prototypes == prototype]
        found = channels(shown, own, ["contacts/.*"], max_contacts=_SIZE_MAX)
        yield own, {channel.name.rpartition("/")[2]: channel for channel in found}


def _contacts(
    own: np.ndarray, data: dict[str, Channel], worlds: Sequence[int], page: Page
) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of contacts as they are drawn [m], and the force on the body that moves [N]."""
    counts = data["count"].numpy().reshape(len(own))  # it fills the others
    is_used = (np.arange(data["point"].shape[1]) < counts[:, None]) & np.isin(own, worlds)[:, None]
    row = np.nonzero(is_used)[0]
    points = data["point"].source.numpy()[is_used] + page.offsets_of(own)[row]
    if "force" not in data:
        return points, np.zeros_like(points)
    is_static = data["bodies"].source.numpy()[is_used][:, 0] < 0
    forces = data["force"].source.numpy()[is_used]
    return points, np.where(is_static[:, None], -forces, forces)


def _scale(shown: Host, worlds: Sequence[int], radius: float) -> float:
    """Return a round length of the arrow for 1 N [m]."""
    model = shown.model
    is_own = on_host(model.body_world) == worlds[0]
    weight = 9.81 * float(on_host(model.body_mass)[is_own].sum()) or 1.0
    length = _WEIGHT * radius / weight
    power = 10.0 ** math.floor(math.log10(length))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= length * (1.0 + 1e-9))
