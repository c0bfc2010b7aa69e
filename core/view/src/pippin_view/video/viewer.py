"""Viewer `video`: a video of a run as MP4 or GIF, on any machine, without a display."""

from __future__ import annotations

from functools import partial

from pippin import Host
from pippin.rendering import Cameras, Renderer, Tiles
from pippin.viewing import FileViewer

from .drawing import Drawing, DrawingBeside, DrawingHere, can_draw_beside
from .file import PIXEL_FORMATS, VideoFile

_SAMPLES = {"low": 1, "medium": 4, "high": 9}
"""Rays per pixel at edges, by quality."""


class VideoViewer(FileViewer):
    """Takes an image of the state after every `speed / rate` seconds of simulated time, and appends it to a file."""

    _drawing: Drawing | None = None
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
        beside = " beside the run" if isinstance(drawing, DrawingBeside) else ""
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
            self._drawing = DrawingBeside(model, simulation.state, self.worlds, renderer, file)
        else:
            self._drawing = DrawingHere(renderer, file)

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
