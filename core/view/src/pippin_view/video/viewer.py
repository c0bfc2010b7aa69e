"""Viewer `video`: a video of a run as MP4 or GIF, drawn here or in a process beside the run, without a display."""

from __future__ import annotations

import logging
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import Host, SimulationError
from pippin.arrays import on_host
from pippin.devices import kind_of
from pippin.rendering import Cameras, Renderer, Tiles
from pippin.viewing import FileViewer
from pippin.workers import leave_stops_to_caller

from .file import PIXEL_FORMATS, VideoFile

_LOGGER = logging.getLogger(__name__)

_WAITING_MAX = 256_000_000
"""Memory of the poses that wait for their images [bytes]: a run that is further ahead waits."""

_MOVING = ("shape_color", "shape_transform")
"""Arrays of the model that may change during a run, and that images show."""


class InlineRenderer:
    """Draws and encodes at once."""

    def __init__(self, renderer: Callable[[], Renderer], file: Callable[[], VideoFile]) -> None:
        self._renderer, self._open = renderer(), file
        self._file: VideoFile | None = None
        self._seconds = 0.0
        #: Number of images so far.
        self.frame_count = 0
        #: Mean time of an image after the first so far [s]; None without one.
        self.cost: float | None = None

    def write(self, state: newton.State, poses: np.ndarray, index: int) -> None:
        """Draw and encode an image of a state from camera poses, shape [worlds, 7]; its time is in frame periods.

        The first image opens the file.

        Raises:
            ConfigError: The file cannot be written.
            SimulationError: The system has no room for the image.
        """
        start = time.perf_counter()
        self._file = self._file or self._open()
        self._file.write(self._renderer.render(state, poses), index)
        if self.frame_count:  # the first image loads kernels
            self._seconds += time.perf_counter() - start
            self.cost = self._seconds / self.frame_count
        self.frame_count = self._file.frame_count

    def close(self) -> None:
        """Complete the file."""
        if self._file is not None:
            self._file.close()


class SubprocessRenderer:
    """Draws and encodes in a copy of this process, so that the run does not wait for images; only poses are sent.

    If this process is killed, the copy completes the video of what it got.
    """

    def __init__(
        self, model: newton.Model, state: newton.State, worlds: np.ndarray, renderer: Callable[[], Renderer], file: Any
    ) -> None:
        seen = (np.isin(on_host(each), [-1, *worlds]) for each in (model.body_world, model.shape_world))
        bodies, shapes = map(np.flatnonzero, seen)
        self._model, self._rows = model, {"body_q": bodies, **dict.fromkeys(_MOVING, shapes)}
        self.frame_count = 0
        self.cost: float | None = None
        size = sum(array.nbytes for array in self._moving(state).values())
        context = multiprocessing.get_context("fork")
        self._frames = context.Queue(max(100, _WAITING_MAX // max(size, 1)))
        self._answers, theirs = context.Pipe(duplex=False)
        arguments = (self._frames, theirs, renderer, file, model, state, self._rows)
        self._process = context.Process(target=_draw, args=arguments, daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the copy uses nothing of other threads
            self._process.start()
        theirs.close()

    def write(self, state: newton.State, poses: np.ndarray, index: int) -> None:
        """Send the poses.

        Raises:
            SimulationError: The copy ended with an error.
        """
        self._listen(0.0)
        self._frames.put((self._moving(state), poses, index))
        self.frame_count += 1

    def close(self) -> None:
        """Wait for the remaining images.

        Raises:
            SimulationError: The copy ended with an error.
        """
        self._frames.put(None)
        try:
            while self._process.is_alive():
                self._listen(1.0)
            self._listen(0.0)
        finally:
            self._frames.cancel_join_thread()
            self._process.join()
        if self._process.exitcode:
            raise SimulationError(
                f"the process that draws the video ended with exit code {self._process.exitcode}; run it again"
            )

    def _listen(self, patience: float) -> None:
        """Take what the copy tells within a time [s]: how far it is, or its error."""
        while self._answers.poll(patience):
            try:
                done, cost, error = self._answers.recv()
            except EOFError:
                return
            if error is not None:
                self._process.join()
                raise error
            self.cost = cost
            if patience:
                _LOGGER.info("video: %d of %d frames", done, self.frame_count)

    def _moving(self, state: newton.State) -> dict[str, np.ndarray]:
        arrays = {"body_q": state.body_q, **{name: getattr(self._model, name) for name in _MOVING}}
        return {name: on_host(arrays[name])[rows] for name, rows in self._rows.items() if len(rows)}


def can_draw_beside(model: newton.Model) -> bool:
    """Tell whether a copy of this process can draw: a GPU is not shared, particles are too many, and variants stay."""
    is_copyable = sys.platform == "linux" and not multiprocessing.current_process().daemon
    has_variants = bool((on_host(model.body_variant) >= 0).any())
    return is_copyable and kind_of(model.device) == "cpu" and not model.particle_count and not has_variants


def _draw(
    frames: Any,
    answers: Connection,
    renderer: Callable[[], Renderer],
    file: Callable[[], VideoFile],
    model: newton.Model,
    state: newton.State,
    rows: Mapping[str, np.ndarray],
) -> None:
    leave_stops_to_caller()
    parent = multiprocessing.parent_process()
    arrays: dict[str, Any] = {"body_q": state.body_q, **{name: getattr(model, name) for name in _MOVING}}
    drawing: InlineRenderer | None = None
    try:
        with wp.ScopedDevice(model.device):
            drawing = InlineRenderer(renderer, file)
            while (frame := _next(frames, parent)) is not None:
                moving, poses, index = frame
                for name, values in moving.items():
                    numbers = arrays[name].numpy()
                    numbers[rows[name]] = values
                    arrays[name].assign(numbers)
                drawing.write(state, poses, index)
                answers.send((drawing.frame_count, drawing.cost, None))
            drawing.close()
    except Exception as error:
        answers.send((0, None, error))
        frames.close()


def _next(frames: Any, parent: Any) -> Any:
    while frames.empty() and parent.is_alive():
        time.sleep(0.005)
    return frames.get() if not frames.empty() else None


_SAMPLES = {"low": 1, "medium": 4, "high": 9}
"""Rays per pixel at edges, by quality."""


class ViewerVideo(FileViewer):
    """Takes an image of the state after every `speed / rate` seconds of simulated time, and appends it to a file."""

    _drawing: InlineRenderer | SubprocessRenderer | None = None
    _cost: float | None = None

    @property
    def frame_period(self) -> float:
        """Simulated time from one frame to the next [s]."""
        return self.config.speed / self.config.rate

    @property
    def notes(self) -> tuple[str, ...]:
        """The file with its size, rate, frames and format of pixels, and the time of an image."""
        drawing = self._drawing
        if drawing is None or not drawing.frame_count:
            return ()
        width, height = self.config.size
        beside = " beside the run" if isinstance(drawing, SubprocessRenderer) else ""
        self._cost = self._cost or drawing.cost  # one text at any time: a run that ends prints new notes
        cost = f", {self._cost:.2g} s a frame{beside}" if self._cost else ""
        return (
            f"'{self.path}': {width}×{height} pixels, {self.config.rate:g} frames/s, {drawing.frame_count} frames,"
            f" {PIXEL_FORMATS[self.path.suffix.lower()]}{cost}",
        )

    def prepare(self, simulation: Host) -> None:
        """Find the bodies or the camera to follow, and prepare the drawing.

        Raises:
            ConfigError: A body or a camera does not exist.
        """
        config, model = self.config, simulation.model
        layout = Tiles.fitting(len(self.worlds), config.size)
        self._cameras = cameras = Cameras(config, simulation, self.worlds, layout.width / layout.height)
        samples = _SAMPLES[config.quality]
        renderer = partial(Renderer, model, self.worlds, layout, cameras.fov, cameras.scale, samples)
        file = partial(VideoFile, self.path, config.size, config.rate, config.quality)
        if can_draw_beside(model):
            self._drawing = SubprocessRenderer(model, simulation.state, self.worlds, renderer, file)
        else:
            self._drawing = InlineRenderer(renderer, file)

    def write(self, simulation: Host, index: int) -> None:
        """Take an image; the first one opens the file.

        Raises:
            ConfigError: The file cannot be written.
            SimulationError: The system has no room for the frame.
        """
        if self._drawing is not None:
            state = simulation.state
            self._drawing.write(state, self._cameras.poses(state, simulation.time), index)

    def finish(self) -> None:
        """Complete the file."""
        if self._drawing is not None:
            self._drawing.close()
