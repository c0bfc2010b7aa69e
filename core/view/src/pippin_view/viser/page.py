"""Page of a simulation in a browser: the scene of Newton's viewer for viser, with matter, and without its own panel."""

from __future__ import annotations

import io
import logging
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from importlib import import_module
from itertools import chain
from typing import Any

import newton
import numpy as np
import warp as wp
from newton.viewer import ViewerViser
from pippin import PluginError
from pippin.arrays import on_host
from pippin.matter import RenderMatter, RenderTendon, line_radius, render_matter, render_tendons, segments_of
from pippin.quaternions import rotated
from pippin.report import Markdown
from pippin.viewing import VariantWatch
from pippin.viewing.bounding_box import bounding_box

from .guard import TokenAuth
from .playback import ViewedSimulation
from .ports import HOST

_LOGGER = logging.getLogger(__name__)

_DIRECTION = (0.75, -1.0, 0.55)
"""Direction from the robots to the camera."""

_DISTANCE = 3.0
"""Distance of the camera, in radii of the sphere around the robots."""

_ASIDE = 0.4
"""Distance of the middle of the image from that of the robots, likewise: the panel covers the right side."""

_GAMMA = 2.2
"""Exponent of the brightness of a screen."""

_GRID = {False: (210, 210, 210), True: (62, 66, 74)}
"""Colour of the grid, by whether the page is dark."""

_TRANSPARENT = 0.3
"""Opacity of shapes while marks inside them are shown."""

_RADIUS_MIN, _RADIUS_MAX = 0.2, 100.0
"""Smallest and largest radius to look at [m]."""


class TextBox:
    """A text on a page, `add` being the function of its server that adds it, such as `gui.add_markdown`."""

    def __init__(self, add: Any, **options: Any) -> None:
        self._handle = add("", **options)

    @property
    def text(self) -> str:
        """The text as the browser gets it."""
        return self._handle.content

    def show(self, text: Markdown, *, visible: bool = True) -> None:
        """Show a text; nothing is sent if it is there already.

        Raises:
            TypeError: The text is not of `markdown`.
        """
        if not isinstance(text, Markdown):
            raise TypeError(f"{text!r} is interpreted by the browser; make it by markdown()")
        if self._handle.content != text:
            self._handle.content = str(text)
        if self._handle.visible != visible:
            self._handle.visible = visible


class Page(ViewerViser):
    """The scene of some worlds on a page that a server of this machine offers."""

    def __init__(self, shown: ViewedSimulation, worlds: Sequence[int], port: int, title: str) -> None:
        self._quiet = _ConnectionNoiseFilter()
        self._quiet.begin()
        #: Checks who asks for the page.
        self.guard = TokenAuth()
        try:
            with redirect_stdout(io.StringIO()), self.guard.guarding():  # viser prints its address, without the secret
                super().__init__(host=HOST, port=port, label=title, verbose=False)
        except PluginError:
            self.close()
            raise
        #: Functions to call with a click, and with each part of a drag, on threads of the server.
        self.on_click: Callable[[Any], None] = lambda event: None
        self.on_drag: Callable[[Any], None] = lambda event: None
        #: Whether the shapes are drawn so that marks inside them are seen.
        self.is_transparent = self._was_transparent = False
        #: Functions that draw more into each frame.
        self.marks: list[Callable[[], None]] = []
        self._watched: dict[int, Any] = {}
        #: Processor time that the thread of the server had taken by the frame before [s]: it packs and sends frames.
        self.sending_time = 0.0
        self.is_dark = False
        self.picking_enabled = False  # Newton's own needs a step that applies its force
        model = shown.model
        _load_kernels(model)
        self.set_model(model)
        self._variants = VariantWatch(model)
        self.show_triangles = self.show_particles = False  # Newton's have one cloud, and ignore the worlds
        #: Cloth, soft bodies and loose particles.
        self.matter = MatterScene(self.server, shown, self.offsets_of, lambda event: self.on_click(event))
        spacing = shown.config.scene.spacing
        if any(spacing):
            self.set_world_offsets(spacing)
        self.look_at_worlds(shown, worlds)

    @property
    def url(self) -> str:
        """Address of the page, with its secret path."""
        return f"http://{HOST}:{self.server.get_port()}{self.guard.path}"

    @property
    def is_dark(self) -> bool:
        """Whether the page is dark."""
        return self._is_dark

    @is_dark.setter
    def is_dark(self, is_dark: bool) -> None:
        self._is_dark = is_dark
        self.server.gui.configure_theme(dark_mode=is_dark, show_share_button=False)

    def _setup_gui(self) -> None:
        """Leave the panel out, for which Newton has no option: its controls would do nothing here."""

    def look_at_worlds(self, shown: ViewedSimulation, worlds: Sequence[int]) -> None:
        """Show only these worlds, and let the camera look at them."""
        is_all = len(worlds) == shown.world_count
        self.set_visible_worlds(None if is_all else [int(world) for world in worlds])
        self.matter.worlds = worlds
        centre, radius = self._sphere(shown, worlds)
        direction, up = np.array(_DIRECTION) / np.linalg.norm(_DIRECTION), np.array([0.0, 0.0, 1.0])
        centre = centre + _ASIDE * radius * np.cross(up, direction)
        # Newton's `set_camera` takes angles, and turns the camera about a point at its last distance, not about these.
        self._set_camera_request(centre + direction * radius * _DISTANCE, centre, up)

    def radius_of(self, shown: Any, worlds: Sequence[int]) -> float:
        """Return the radius of a sphere around the contents of some worlds [m]."""
        return self._sphere(shown, worlds)[1]

    def offsets_of(self, worlds: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the positions at which worlds are drawn [m], shape [len(worlds), 3]."""
        return np.zeros((len(worlds), 3)) if self.world_offsets is None else on_host(self.world_offsets)[worlds]

    def add_label(self, key: str, text: str, position: np.ndarray) -> Any:
        """Add a text to the scene, and return its handle."""
        # The browser would look for other letters in the network, and show nothing at all without one.
        plain = text.encode("ascii", "replace").decode()
        return self.server.scene.add_label(f"/names/{key}", plain, position=position, anchor="bottom-center")

    def body_positions(self, shown: ViewedSimulation) -> np.ndarray:
        """Return the positions of all centres of mass as they are drawn [m], shape [bodies, 3]."""
        model, poses = shown.model, on_host(shown.state.body_q)
        centres = rotated(poses[:, 3:], on_host(model.body_com)) + poses[:, :3]
        return centres + self.offsets_of(on_host(model.body_world))

    def joint_positions(self, shown: ViewedSimulation) -> np.ndarray:
        """Return the positions of all joints as they are drawn, on the bodies that they move [m], shape [joints, 3]."""
        model = shown.model
        bodies, poses = on_host(model.joint_child), on_host(shown.state.body_q)
        anchors = rotated(poses[bodies, 3:], on_host(model.joint_X_c)[:, :3]) + poses[bodies, :3]
        return anchors + self.offsets_of(on_host(model.body_world)[bodies])

    def show(self, shown: ViewedSimulation, time: float) -> None:
        """Send the poses, particles and contacts of a simulated time [s] to the browsers."""
        if self._variants.has_changed():
            self.notify_model_changed(newton.ModelFlags.SHAPE_TYPE_AND_SOURCE)
        self.begin_frame(time)
        try:
            self.log_state(shown.state)
            self.matter.show()
            for mark in self.marks:
                mark()
            for grid in chain.from_iterable(self._plane_handles.values()):
                grid.cell_color = grid.section_color = _GRID[self.is_dark]
        finally:
            self.end_frame()
            self.server.get_event_loop().call_soon_threadsafe(
                lambda: setattr(self, "sending_time", clock.thread_time())
            )

    def close(self) -> None:
        """Stop the server."""
        try:
            with redirect_stdout(io.StringIO()):  # viser says that it stops
                super().close()
        finally:
            self._quiet.end()

    def log_instances(
        self, name: str, mesh: str, xforms: Any, scales: Any, colors: Any, *args: Any, **options: Any
    ) -> None:
        """Draw instances of a mesh, as Newton does, but with the colours of a video: the browser takes linear ones.

        They are transparent if marks inside them are to be seen.
        """
        if colors is not None:
            colors = np.asarray(colors if isinstance(colors, np.ndarray) else colors.numpy()) ** _GAMMA
        self._was_transparent |= self.is_transparent
        if xforms is not None and self._was_transparent:
            opacity = _TRANSPARENT if self.is_transparent else 1.0
            options["opacities"] = np.full(len(xforms), opacity, dtype=np.float32)
        # pyrefly: ignore[bad-argument-type]
        super().log_instances(name, mesh, xforms, scales, colors, *args, **options)

    def _attach_picking_callback(self, handle: Any, layer_id: str) -> None:
        """Pass clicks and drags on a mesh to the hand of the page, for which Newton has a panel of its own."""
        if id(handle) not in self._watched:
            self._watched[id(handle)] = handle
            handle.on_click(lambda event: self.on_click(event))
            handle.on_drag("left", modifier="cmd/ctrl")(lambda event: self.on_drag(event))

    def _detach_picking_callback(self, handle: Any) -> None:
        self._watched.pop(id(handle), None)

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


class _ConnectionNoiseFilter(logging.Filter):
    """Leaves out what browsers cause that open a connection and do not use it, or are open when the server stops; and
    the tracebacks of messages that are malformed, which hold the secret address and could fill a log.
    """

    _LOGGERS = ("asyncio", "websockets.server", "viser")
    _USUAL = ("opening handshake failed", "connection handler failed", "cannot schedule new futures after shutdown")

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
        scene, name = self._server.scene, f"/matter/{index}"
        color = tuple(round(255.0 * part) for part in seen.color)
        if not len(seen.faces):
            size = 2.0 * seen.radius
            return scene.add_point_cloud(name, points, color, point_size=size, point_shape="circle", position=origin)
        handle = scene.add_mesh_simple(name, points, seen.faces, color=color, side="double", position=origin)
        handle.on_click(self._on_click)
        return handle
