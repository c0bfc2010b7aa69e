"""Page of a simulation in a browser: the scene of Newton's viewer for viser, without its own panel."""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from importlib import import_module
from typing import Any

import newton
import numpy as np
import warp as wp
from newton.viewer import ViewerViser
from pippin.arrays import on_host
from pippin.viewing.bounding_box import bounding_box

from .playback import ViewedSimulation
from .ports import HOST

_LOGGER = logging.getLogger(__name__)

_DIRECTION = (0.75, -1.0, 0.55)
"""Direction from the robots to the camera."""

_DISTANCE = 2.7
"""Distance of the camera, in radii of the sphere around the robots."""

_RADIUS_MIN, _RADIUS_MAX = 0.2, 100.0
"""Smallest and largest radius to look at [m]."""


class Page(ViewerViser):
    """The scene of some worlds on a page that a server of this machine offers."""

    def __init__(self, shown: ViewedSimulation, worlds: Sequence[int], port: int, title: str) -> None:
        self._quiet = _Quiet()
        self._quiet.begin()
        with redirect_stdout(io.StringIO()):  # viser prints its address, and standard output is not the viewer's
            super().__init__(host=HOST, port=port, label=title, verbose=False)
        self._was_with_contacts = False
        self.picking_enabled = False  # nothing in the step would follow the drag
        model = shown.model
        _load_kernels(model)
        self.set_model(model)
        self.show_contacts = False
        self.show_particles = model.particle_count > 0 and model.tri_count == 0
        spacing = shown.config.scene.spacing
        if any(spacing):
            self.set_world_offsets(spacing)
        self.look_at_worlds(shown, worlds)

    def _setup_gui(self) -> None:
        """Leave the panel out, for which Newton has no option: its controls would do nothing here."""

    def look_at_worlds(self, shown: ViewedSimulation, worlds: Sequence[int]) -> None:
        """Show only these worlds, and let the camera look at them."""
        is_all = len(worlds) == shown.world_count
        self.set_visible_worlds(None if is_all else [int(world) for world in worlds])
        centre, radius = self._sphere(shown, worlds)
        direction = np.array(_DIRECTION) / np.linalg.norm(_DIRECTION)
        # Newton's `set_camera` takes angles, and turns the camera about a point at its last distance, not about these.
        self._set_camera_request(centre + direction * radius * _DISTANCE, centre, np.array([0.0, 0.0, 1.0]))

    def show(self, shown: ViewedSimulation, time: float) -> None:
        """Send the poses, particles and contacts of a simulated time [s] to the browsers."""
        self.begin_frame(time)
        try:
            self.log_state(shown.state)
            self._show_contacts(shown)
        finally:
            self.end_frame()

    def close(self) -> None:
        """Stop the server."""
        try:
            with redirect_stdout(io.StringIO()):  # viser says that it stops
                super().close()
        finally:
            self._quiet.end()

    def _show_contacts(self, shown: ViewedSimulation) -> None:
        contacts, reports = shown.contacts, shown.observables
        if contacts is None or not (self.show_contacts or self._was_with_contacts):
            return
        self._was_with_contacts = self.show_contacts  # once more after they were switched off: this hides them
        has_forces = reports is not None and reports.contact_f is not None and reports.contacts is contacts
        self.log_contacts(contacts, shown.state, observables=reports if has_forces else None)

    def _sphere(self, shown: ViewedSimulation, worlds: Sequence[int]) -> tuple[np.ndarray, float]:
        """Return centre and radius of a sphere around the contents of some worlds, as they are drawn [m]."""
        offsets = np.zeros((shown.world_count, 3)) if self.world_offsets is None else on_host(self.world_offsets)
        boxes = {world: bounding_box(shown.model, shown.state, world) for world in worlds}
        corners = [np.array(box) + offsets[world] for world, box in boxes.items() if box is not None]
        if not corners:
            return np.zeros(3), 1.0
        lower, upper = np.min(corners, axis=(0, 1)), np.max(corners, axis=(0, 1))
        radius = float(np.linalg.norm(upper - lower)) / 2.0
        return (lower + upper) / 2.0, min(max(radius, _RADIUS_MIN), _RADIUS_MAX)


def _load_kernels(model: newton.Model) -> None:
    """Load the kernels of frames now: compiled by the second frame, they would hold up the run for seconds."""
    package = ViewerViser.__module__.rpartition(".")[0]
    for name in ("kernels", "viewer_viser_kernels"):
        _LOGGER.info("kernels of the page")
        with suppress(ImportError):
            wp.load_module(import_module(f"{package}.{name}"), device=model.device)


class _Quiet(logging.Filter):
    """Leaves out what browsers cause that open a connection and do not use it, or are open when the server stops."""

    _LOGGERS = ("asyncio", "websockets.server", "viser")
    _USUAL = ("opening handshake failed", "cannot schedule new futures after shutdown")

    def begin(self) -> None:
        """Filter the loggers of the server."""
        for name in self._LOGGERS:
            logging.getLogger(name).addFilter(self)

    def end(self) -> None:
        """Leave the loggers as they were."""
        for name in self._LOGGERS:
            logging.getLogger(name).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record is news."""
        texts: list[Any] = [record.getMessage(), *(record.exc_info or ())[1:2]]
        return not any(usual in str(text) for usual in self._USUAL for text in texts)
