"""Names in the image of a page: those of the bodies, joints and objects of matter of one world."""

from __future__ import annotations

from typing import Any

import numpy as np
from pippin.arrays import on_host
from pippin.labels import name_of

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
        """Return the text and the position of each name."""
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
