"""Viewer `video`: a film of a run as MP4 or GIF, on any machine, without a display."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from pippin.extras import import_library
from pippin.files import output_path, refuse_unwritable
from pippin.hookspecs import hookimpl
from pippin.indices import chosen_worlds

from .config import VideoConfig
from .tiles import tiles

if TYPE_CHECKING:
    from pippin.binding import Binding, Host

    from .file import VideoFile

__all__ = ["Video"]

_SAMPLES = {"low": 1, "medium": 4, "high": 9}
"""Rays per pixel at edges, by quality."""

_TOLERANCE = 1e-6
"""Largest distance of a frame from its time, in frames: decimals are not exact in binary."""


class Video:
    """Draws the state after every `speed / rate` seconds of simulated time, and appends it to a file.

    Args:
        config: The configuration.
    """

    Config: ClassVar[type[VideoConfig]] = VideoConfig

    def __init__(self, config: VideoConfig) -> None:
        self.config = config
        self._file: VideoFile | None = None

    @property
    def frame_period(self) -> float:
        """Simulated time from one frame to the next [s]."""
        return self.config.speed / self.config.rate

    @property
    def frame_count(self) -> int:
        """Number of frames so far."""
        return 0 if self._file is None else self._file.frame_count

    @property
    def notes(self) -> tuple[str, ...]:
        """The file with its size, rate, frames and format of pixels."""
        if self._file is None:
            return ()
        width, height = self.config.size
        return (
            f"'{self.path}': {width}×{height} pixels, {self.config.rate:g} frames/s, {self.frame_count} frames,"
            f" {self._file.pixel_format}",
        )

    @hookimpl
    def bind(self, simulation: Host, binding: Binding) -> None:
        """Find the bodies or the camera to follow, and refuse a file that cannot be written.

        Raises:
            ConfigError: A world, a body or a camera does not exist, or the file cannot be written.
            PluginError: PyAV is not installed.
        """
        from .renderer import Renderer
        from .shot import Shot

        import_library("av", "video")
        config = self.config
        #: The file; known after `bind`.
        self.path = output_path(simulation.folder, config.path or f"{binding.label.partition(':')[2]}.mp4")
        refuse_unwritable(self.path)
        #: Indices of the worlds in the picture, shape [worlds]; known after `bind`.
        self.worlds = chosen_worlds(config.worlds or "0:1", simulation.world_count, "worlds", "leave the viewer out")
        layout = tiles(len(self.worlds), config.size)
        self._shot = shot = Shot(config, simulation, self.worlds, layout.width / layout.height)
        samples = _SAMPLES[config.quality]
        self._renderer = Renderer(simulation.model, self.worlds, layout, shot.fov, shot.scale, samples)

    @hookimpl
    def frame(self, simulation: Host, time: float) -> None:
        """Draw the state, and write the picture; the first one opens the file.

        Raises:
            ConfigError: The file cannot be written.
            SimulationError: The system has no room for the frame.
        """
        if self._file is None:
            from .file import VideoFile

            self._file = VideoFile(self.path, self.config.size, self.config.rate, self.config.quality)
            self._start = time
        state = simulation.state
        picture = self._renderer.render(state, self._shot.poses(state, time))
        self._file.write(picture, math.floor((time - self._start) / self.frame_period + _TOLERANCE))

    @hookimpl
    def close(self) -> None:
        """Complete the file."""
        if self._file is not None:
            self._file.close()
