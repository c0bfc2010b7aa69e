"""Matter on a page: a surface for each cloth and soft body, a cloud of points for each block of loose particles, and
lines for tendons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from pippin.arrays import on_host
from pippin.matter import RenderMatter, RenderTendon, line_radius, render_matter, render_tendons, segments_of
from pippin.viewing.bounding_box import bounding_box

from .playback import ViewedSimulation


class MatterScene:
    """The objects of matter in the scene of a server."""

    def __init__(
        self,
        server: Any,
        shown: ViewedSimulation,
        offsets_of: Callable[[Sequence[int]], np.ndarray],
        on_click: Callable[[Any], None],
    ) -> None:
        self._server, self._shown, self._offsets_of, self._on_click = server, shown, offsets_of, on_click
        every = render_matter(shown.model, range(shown.world_count))
        self._objects = [seen for seen in every if len(seen.particles)]
        #: Cables of all worlds, which are drawn as shapes.
        self.cables = [seen for seen in every if len(seen.bodies)]
        self._handles: dict[int, Any] = {}
        self._tendons = render_tendons(shown.model, range(shown.world_count))
        self._lines: Any = None
        # Clouds are sent in half precision: 16 bit hold a thousandth of the distance from their middle at the start.
        self._origins = [seen.of(on_host(shown.state.particle_q)).mean(axis=0) for seen in self._objects]
        #: Worlds that are drawn.
        self.worlds: Sequence[int] = ()
        #: Whether matter is drawn.
        self.is_shown = True

    def show(self) -> None:
        """Send the positions of what is drawn."""
        self._show_tendons()
        if not self._objects:
            return
        positions = on_host(self._shown.state.particle_q)
        for index, seen in enumerate(self._objects):
            handle = self._handles.get(index)
            if not self._is_drawn(seen):
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

    def _show_tendons(self) -> None:
        """Send the lines of the tendons in the worlds that are drawn."""
        chosen = [seen for seen in self._tendons if self._is_drawn(seen)]
        if self._lines is not None:
            self._lines.visible = bool(chosen)
        if not chosen:
            return
        state, model = self._shown.state, self._shown.model
        body_q = None if state.body_q is None else on_host(state.body_q)
        parts = segments_of(chosen, body_q, self._offsets_of(range(self._shown.world_count)))
        if self._lines is None:
            ends = bounding_box(model, state, chosen[0].world)
            size = 1.0 if ends is None else float(np.linalg.norm(ends[1] - ends[0])) / 2.0
            color = tuple(round(255.0 * part) for part in RenderTendon.color)
            self._lines = self._server.scene.add_line_segments(
                "/matter/tendons", parts.astype(np.float32), color, thickness=2.0 * line_radius(size)
            )
        else:
            self._lines.points = parts.astype(np.float32)

    def drawn(self) -> Iterator[tuple[RenderMatter, np.ndarray]]:
        """Yield each object that is drawn, and the positions of its particles as they are drawn [m]."""
        positions = on_host(self._shown.state.particle_q) if self._objects else np.zeros((0, 3))
        for seen in filter(self._is_drawn, self._objects):
            yield seen, seen.of(positions) + self._offset(seen)

    def middle(self, seen: RenderMatter) -> np.ndarray:
        """Return the mean position of the particles of an object as it is drawn [m], shape [3]."""
        return seen.of(on_host(self._shown.state.particle_q)).mean(axis=0) + self._offset(seen)

    def of_world(self, world: int) -> list[RenderMatter]:
        """Return the objects of a world."""
        return [seen for seen in self._objects if seen.world == world]

    def _is_drawn(self, seen: RenderMatter | RenderTendon) -> bool:
        return self.is_shown and seen.world in (-1, *self.worlds)

    def _offset(self, seen: RenderMatter) -> np.ndarray:
        return self._offsets_of([seen.world])[0] if seen.world >= 0 else np.zeros(3)

    def _add(self, index: int, seen: RenderMatter, points: np.ndarray, origin: np.ndarray) -> Any:
        """Add an object to the scene, and return its handle. The points are relative to an origin."""
        scene, name = self._server.scene, f"/matter/{index}"
        color = tuple(round(255.0 * part) for part in seen.color)
        if not len(seen.faces):
            size = 2.0 * seen.radius
            return scene.add_point_cloud(name, points, color, point_size=size, point_shape="circle", position=origin)
        handle = scene.add_mesh_simple(name, points, seen.faces, color=color, side="double", position=origin)
        handle.on_click(self._on_click)
        return handle
