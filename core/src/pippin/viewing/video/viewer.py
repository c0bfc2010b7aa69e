"""Viewer `video`: a video of a run as MP4 or GIF, on any machine, without a display."""

from __future__ import annotations

from pippin import Host
from pippin.viewing import FileViewer

from .cameras import Cameras
from .file import VideoFile
from .renderer import Renderer, tiles

_SAMPLES = {"low": 1, "medium": 4, "high": 9}
"""Rays per pixel at edges, by quality."""


class VideoViewer(FileViewer):
    """Renders the state after every `speed / rate` seconds of simulated time, and appends it to a file."""

    _file: VideoFile | None = None

    @property
    def frame_period(self) -> float:
        """Simulated time from one frame to the next [s]."""
        return self.config.speed / self.config.rate

    @property
    def notes(self) -> tuple[str, ...]:
        """The file with its size, rate, frames and format of pixels."""
        if self._file is None:
            return ()
        width, height = self.config.size
        return (
            f"'{self.path}': {width}×{height} pixels, {self.config.rate:g} frames/s, {self._file.frame_count} frames,"
            f" {self._file.pixel_format}",
        )

    def prepare(self, simulation: Host) -> None:
        """Find the bodies or the camera to follow, and prepare the renderer."""
        config = self.config
        layout = tiles(len(self.worlds), config.size)
        self._cameras = cameras = Cameras(config, simulation, self.worlds, layout.width / layout.height)
        samples = _SAMPLES[config.quality]
        self._renderer = Renderer(simulation.model, self.worlds, layout, cameras.fov, cameras.scale, samples)

    def write(self, simulation: Host, index: int) -> None:
        """Render the state, and write the image; the first one opens the file.

        Raises:
            ConfigError: The file cannot be written.
            SimulationError: The system has no room for the frame.
        """
        if self._file is None:
            self._file = VideoFile(self.path, self.config.size, self.config.rate, self.config.quality)
        state = simulation.state
        self._file.write(self._renderer.render(state, self._cameras.poses(state, simulation.time)), index)

    def finish(self) -> None:
        """Complete the file."""
        if self._file is not None:
            self._file.close()
