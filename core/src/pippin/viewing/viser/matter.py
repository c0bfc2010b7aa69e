"""Matter on a page: a surface for each cloth and soft body, and a cloud of points for each block of loose particles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pippin.arrays import on_host
from pippin.viewing.matter import SeenMatter, seen_matter

from .playback import ViewedSimulation


class MatterScene:
    """The objects of matter in the scene of a server."""

    def __init__(self, server: Any, shown: ViewedSimulation, offsets_of: Callable[[Sequence[int]], np.ndarray]) -> None:
        self._server, self._shown, self._offsets_of = server, shown, offsets_of
        every = seen_matter(shown.model, range(shown.world_count))
        self._objects = [seen for seen in every if len(seen.particles)]
        #: Cables of all worlds, which are drawn as shapes.
        self.cables = [seen for seen in every if len(seen.bodies)]
        self._handles: dict[int, Any] = {}
        # Clouds are sent in half precision: 16 bit hold a thousandth of the distance from their middle at the start.
        self._origins = [seen.of(on_host(shown.state.particle_q)).mean(axis=0) for seen in self._objects]
        #: Worlds that are drawn.
        self.worlds: Sequence[int] = ()
        #: Whether matter is drawn.
        self.is_shown = True
        #: Function to call with the object that was clicked, on a thread of the server.
        self.on_click: Callable[[SeenMatter], None] | None = None

    def show(self) -> None:
        """Send the positions of what is drawn."""
        if not self._objects:
            return
        positions = on_host(self._shown.state.particle_q)
        for index, seen in enumerate(self._objects):
            handle = self._handles.get(index)
            if not (self.is_shown and seen.world in (-1, *self.worlds)):
                if handle is not None:
                    handle.visible = False
                continue
            points, origin = seen.of(positions) - self._origins[index], self._origins[index] + self._offset(seen)
            if handle is None:
                self._handles[index] = self._add(index, seen, points, origin)
                continue
            handle.visible = True
            setattr(handle, "vertices" if len(seen.faces) else "points", points)
            if (handle.position != origin).any():
                handle.position = origin

    def middle(self, seen: SeenMatter) -> np.ndarray:
        """Return the mean position of the particles of an object as it is drawn [m], shape [3]."""
        return seen.of(on_host(self._shown.state.particle_q)).mean(axis=0) + self._offset(seen)

    def of_world(self, world: int) -> list[SeenMatter]:
        """Return the objects of a world."""
        return [seen for seen in self._objects if seen.world == world]

    def _offset(self, seen: SeenMatter) -> np.ndarray:
        return self._offsets_of([seen.world])[0] if seen.world >= 0 else np.zeros(3)

    def _add(self, index: int, seen: SeenMatter, points: np.ndarray, origin: np.ndarray) -> Any:
        """Add an object to the scene, and return its handle. The points are relative to an origin."""
        scene, name = self._server.scene, f"/matter/{index}"
        color = tuple(round(255.0 * part) for part in seen.color)
        if not len(seen.faces):
            size = 2.0 * seen.radius
            return scene.add_point_cloud(name, points, color, point_size=size, point_shape="circle", position=origin)
        handle = scene.add_mesh_simple(name, points, seen.faces, color=color, side="double", position=origin)
        handle.on_click(lambda _: self.on_click and self.on_click(seen))
        return handle
