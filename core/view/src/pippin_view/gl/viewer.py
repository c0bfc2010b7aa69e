"""Viewer `gl`: a window of this machine, by Newton's viewer for OpenGL."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import newton
import numpy as np
import warp as wp
from newton import viewer
from pippin import ConfigError, Host, hookimpl
from pippin.arrays import on_host
from pippin.extras import import_library
from pippin.matter import RenderTendon, render_matter, render_tendons, segments_of
from pippin.viewing import VariantWatch

from pippin_view.configs import GlConfig


class ViewerGL:
    """A window that shows the chosen worlds side by side. If it is closed, the run ends as by Ctrl-C."""

    def __init__(self, config: GlConfig) -> None:
        self.config = config
        #: Frames per second [Hz].
        self.frame_rate = config.rate
        self._resets = 0
        self._is_reset_requested = False

    @hookimpl
    def bind(self, simulation: Host) -> None:
        """Open the window.

        Raises:
            PluginError: A library is not installed.
            ConfigError: There is no display, or a world does not exist.
        """
        for name in ("pyglet", "imgui_bundle"):
            import_library(name, "gl")
        worlds = self.config.worlds_of(simulation.world_count).tolist()
        self._window: Any = self._open()
        self._window.set_model(simulation.model)
        self._variants = VariantWatch(simulation.model)
        if len(worlds) < simulation.world_count:
            self._window.set_visible_worlds(worlds)
        if any(simulation.config.scene.spacing):
            self._window.set_world_offsets(simulation.config.scene.spacing)
        self._window.show_triangles = self._window.show_particles = False  # Newton's ignore the worlds
        self._matter = [each for each in render_matter(simulation.model, worlds) if len(each.particles)]
        self._tendons = render_tendons(simulation.model, worlds)
        self._offsets = np.asarray(simulation.world_offsets)
        self._window.picking_enabled = False  # nothing in the step would follow the drag
        self._window.set_reset_callback(partial(setattr, self, "_is_reset_requested", True))

    def _open(self) -> Any:
        width, height = self.config.size
        try:
            return viewer.ViewerGL(width=width, height=height)
        except Exception as error:  # pyglet has an exception for each system
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ConfigError(
                f"type: 'gl' cannot open a window ({reason}); choose 'viser', a page in the browser, or 'video'"
            ) from error

    @property
    def notes(self) -> list[str]:
        """A phrase if a user reset the worlds in the window."""
        return [f"all worlds were reset {self._resets} times from the window"] if self._resets else []

    def wait_time(self) -> float:
        """Return 0, or `inf` while the window pauses; after a click on "Step", 0 once."""
        return 0.0 if self._window.should_step() else math.inf

    @hookimpl
    def frame(self, simulation: Host, time: float) -> None:
        """Draw the state, and let the window take its events."""
        if not self._window.is_running():
            raise KeyboardInterrupt
        if self._is_reset_requested:
            self._is_reset_requested = False
            self._resets += 1
            simulation.reset()
        if self._variants.has_changed():
            self._window.notify_model_changed(newton.ModelFlags.SHAPE_TYPE_AND_SOURCE)
        self._window.begin_frame(time)
        self._window.log_state(simulation.state)
        self._draw_matter(simulation)
        self._draw_tendons(simulation)
        self._window.end_frame()

    def _draw_matter(self, simulation: Host) -> None:
        points = on_host(simulation.state.particle_q) if self._matter else np.zeros((0, 3))
        for index, seen in enumerate(self._matter):
            offset = self._offsets[seen.world] if seen.world >= 0 else 0.0
            own, device = points[seen.particles] + offset, simulation.model.device
            places = wp.array(own, dtype=wp.vec3, device=device)
            if len(seen.faces):
                faces = wp.array(seen.faces.ravel(), dtype=wp.int32, device=device)
                self._window.log_mesh(f"/matter/{index}", places, faces, backface_culling=False, color=seen.color)
            else:
                radii = wp.full(len(own), value=seen.radius, dtype=wp.float32, device=device)
                colors = wp.full(len(own), value=wp.vec3(*seen.color), dtype=wp.vec3, device=device)
                self._window.log_points(f"/matter/{index}", places, radii, colors)

    def _draw_tendons(self, simulation: Host) -> None:
        if not self._tendons:
            return
        body_q, device = simulation.state.body_q, simulation.model.device
        parts = segments_of(self._tendons, None if body_q is None else on_host(body_q), self._offsets)
        starts, ends = (wp.array(parts[:, side], dtype=wp.vec3, device=device) for side in (0, 1))
        self._window.log_lines("/tendons", starts, ends, RenderTendon.color)

    @hookimpl
    def close(self) -> None:
        """Close the window."""
        if hasattr(self, "_window"):
            self._window.close()
            del self._window
