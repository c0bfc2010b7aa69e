"""Video files: H.264 in MP4, and GIF, written frame by frame; what was written plays also after a kill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.filter import Graph
from pippin import ConfigError, SimulationError

_LOSS = {"low": 30, "medium": 23, "high": 17}
"""Constant rate factor of H.264 by quality; higher loses more."""

_DENOMINATOR_MAX = 1001

PIXEL_FORMATS = {".mp4": "yuv420p", ".gif": "pal8"}
"""Format of pixels by the suffix of the file."""


class VideoFile:
    """A video file that is being written.

    Args:
        path: The file; its suffix chooses the format. A file that is there is replaced.
        size: Width and height [pixels], even numbers.
        rate: Frames per second [Hz].
        quality: Loss of the encoder: `"low"`, `"medium"` or `"high"` quality.

    Raises:
        ConfigError: The file cannot be written, or this build of PyAV has no encoder for it.
    """

    def __init__(self, path: Path, size: tuple[int, int], rate: float, quality: str) -> None:
        self.path = path
        self._rate = Fraction(rate).limit_denominator(_DENOMINATOR_MAX)
        self._is_gif = path.suffix.lower() == ".gif"
        encoder = "gif" if self._is_gif else "libx264"
        if encoder not in av.codecs_available:
            raise ConfigError(f"path: '{path}' needs the encoder {encoder}, which this PyAV lacks; install its wheel")
        options = {} if self._is_gif else {"movflags": "hybrid_fragmented+frag_keyframe"}
        with self._refusing():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._container: Any = av.open(str(path), "w", container_options={**options, "flush_packets": "1"})
        self._stream: Any = self._container.add_stream(encoder, rate=self._rate)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = PIXEL_FORMATS[path.suffix.lower()]
        context = self._stream.codec_context
        context.time_base = 1 / self._rate
        if not self._is_gif:
            context.gop_size = max(1, round(self._rate))
            self._stream.options = {"preset": "medium", "tune": "zerolatency", "crf": str(_LOSS[quality])}
        self._take: Any = None
        #: Number of frames so far.
        self.frame_count = 0
        with self._refusing():
            self._container.start_encoding()

    def write(self, image: np.ndarray, index: int) -> None:
        """Write a frame of shape [height, width, 3], from 0 to 255; `index` is its time in frames, which ascends.

        Raises:
            SimulationError: The system takes no more, for example on a full disk; what was written can be played.
        """
        frame = av.VideoFrame.from_ndarray(image, format="rgb24")
        frame.pts, frame.time_base = index, 1 / self._rate
        with self._abandoning():
            for each in self._paletted(frame) if self._is_gif else (frame,):
                self._container.mux(self._stream.encode(each))
        self.frame_count += 1

    def close(self) -> None:
        """Complete the file; a file that an error has ended stays as it is.

        Raises:
            SimulationError: The system has no room for the end; what was written before can be played.
        """
        if self._container is None:
            return
        with self._abandoning():
            self._container.mux(self._stream.encode(None))
            self._container.close()
        self._container = None

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ConfigError(
                f"path: '{self.path}' cannot be written ({error.strerror}); choose another path"
            ) from error

    @contextmanager
    def _abandoning(self) -> Iterator[None]:
        """Let the file go as it is after an error of the system: its end cannot be written."""
        try:
            yield
        except OSError as error:
            container, self._container = self._container, None
            with suppress(OSError):
                container.close()
            raise SimulationError(
                f"'{self.path}' ends after {self.frame_count} frames, as the system does not take more"
                f" ({error.strerror}); free some space, or choose another path"
            ) from error

    def _paletted(self, frame: Any) -> list[Any]:
        """Return a frame with the 255 colours that fit the first one best."""
        if self._take is None:
            self._take = self._taking(frame)
        _, source, sink = self._take
        source.push(frame)
        return [sink.pull()]

    def _taking(self, first: Any) -> tuple[Any, Any, Any]:
        """Return a graph of filters that takes the colours of a frame, and the ends of this graph."""
        choice = Graph()
        source, choose, sink = (
            _source(choice, first),
            choice.add("palettegen", "stats_mode=single"),
            choice.add("buffersink"),
        )
        source.link_to(choose)
        choose.link_to(sink)
        choice.configure()
        source.push(first)
        palette = sink.pull()
        graph = Graph()
        frames, colors, sink = _source(graph, first), _source(graph, palette), graph.add("buffersink")
        take = graph.add("paletteuse", "dither=none:diff_mode=rectangle")
        frames.link_to(take, 0, 0)
        colors.link_to(take, 0, 1)
        take.link_to(sink)
        graph.configure()
        colors.push(palette)
        colors.push(None)
        return graph, frames, sink


def _source(graph: Any, frame: Any) -> Any:
    return graph.add_buffer(
        width=frame.width, height=frame.height, format=frame.format.name, time_base=frame.time_base or Fraction(1, 25)
    )
