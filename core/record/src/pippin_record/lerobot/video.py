"""Videos of episodes: a file for each camera, encoded beside the simulation, and the statistics of its images."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from pippin import ConfigError

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}

_LEVELS = 256
"""Levels of a colour."""

Statistics = dict[str, np.ndarray]

_ENCODERS = {"h264": "libx264", "av1": "libsvtav1"}
_OPTIONS = {
    "h264": {"preset": "ultrafast", "tune": "zerolatency", "crf": "18"},
    "av1": {"preset": "12", "crf": "30", "svtav1-params": "lp=1"},
}
_GROUP = 2
"""Frames from one that is decoded by itself to the next: readers jump to any frame."""

_PENDING_MAX = 8
"""Blocks of images that wait for the encoder, before the simulation does."""

_STATISTICS_STEP = 2
"""Pixels from one to the next in statistics, in rows and columns."""


class Encoder:
    """A thread that encodes images while the simulation continues."""

    def __init__(self, codec: str, fps: int) -> None:
        if _ENCODERS[codec] not in av.codecs_available:
            raise ConfigError(f"codec: this PyAV lacks the encoder {_ENCODERS[codec]!r}; install its wheel")
        self.codec, self.fps = codec, fps
        self._threads = ThreadPoolExecutor(1, "pippin-encoder")
        self._pending: deque[Future[None]] = deque()

    def call(self, function: Any, *arguments: Any) -> Future[Any]:
        """Call a function on the thread, after all others; wait if too many of them do."""
        future = self._threads.submit(function, *arguments)
        self._pending.append(future)
        while len(self._pending) > _PENDING_MAX:
            self._pending.popleft().result()
        return future

    def close(self) -> None:
        """Wait for all calls, and end the thread."""
        self._threads.shutdown()


class EpisodeVideo:
    """The video of one camera in one episode, which is being written.

    `size` is height and width [pixels].
    """

    def __init__(self, path: Path, size: tuple[int, int], encoder: Encoder) -> None:
        self.path = path
        self._size, self._encoder = size, encoder
        self._container: Any = None
        self._histogram = np.zeros((3, _LEVELS), dtype=np.int64)
        self._count = 0
        self._done: Future[Any] | None = None

    def add(self, images: np.ndarray) -> None:
        """Append frames, shape [frames, height, width, 3], from 0 to 255, which are copied."""
        self._done = self._encoder.call(self._encode, np.ascontiguousarray(images))

    def end(self) -> None:
        """Complete the file, beside the simulation."""
        self._done = self._encoder.call(self._complete)

    def discard(self) -> None:
        """Forget the file."""
        self._encoder.call(self._forget)

    @property
    def is_done(self) -> bool:
        """Whether the file is complete."""
        return self._done is not None and self._done.done()

    def statistics(self) -> Statistics:
        """Wait for the file, and return the statistics of its images."""
        assert self._done is not None
        self._done.result()
        return _of_levels(self._histogram, self._count)

    def _encode(self, images: np.ndarray) -> None:
        if self._container is None:
            self._open()
        container: Any = self._container
        for image in images:
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts, frame.time_base = self._count, Fraction(1, self._encoder.fps)
            container.mux(self._stream.encode(frame))
            self._count += 1
        few = images[:, ::_STATISTICS_STEP, ::_STATISTICS_STEP]
        for channel in range(3):
            self._histogram[channel] += np.bincount(few[..., channel].ravel(), minlength=_LEVELS)

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        codec = self._encoder.codec
        self._container = av.open(str(self.path), "w", format="mp4")
        stream: Any = self._container.add_stream(_ENCODERS[codec], rate=self._encoder.fps)
        stream.height, stream.width = self._size
        stream.pix_fmt = "yuv420p"
        stream.options = dict(_OPTIONS[codec])
        self._stream, context = stream, stream.codec_context
        context.gop_size, context.thread_count = _GROUP, 1
        context.time_base = Fraction(1, self._encoder.fps)

    def _complete(self) -> None:
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def _forget(self) -> None:
        if self._container is not None:
            self._container.close()
        self.path.unlink(missing_ok=True)


def _of_levels(histogram: np.ndarray, frame_count: int) -> Statistics:
    levels = np.arange(_LEVELS) / (_LEVELS - 1)
    total = histogram.sum(axis=1)
    mean = histogram @ levels / total
    variance = histogram @ levels**2 / total - mean**2
    shares = np.cumsum(histogram, axis=1) / total[:, None]
    found = {
        "min": levels[(histogram > 0).argmax(axis=1)],
        "max": levels[_LEVELS - 1 - (histogram[:, ::-1] > 0).argmax(axis=1)],
        "mean": mean,
        "std": np.sqrt(np.maximum(variance, 0.0)),
    }
    found |= {name: levels[(shares >= share - 1e-12).argmax(axis=1)] for name, share in QUANTILES.items()}
    return {name: each.reshape(3, 1, 1) for name, each in found.items()} | {"count": np.array([frame_count])}
