"""The logger of TensorBoard, whose files its own library writes."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from .configs import TensorBoardConfig
from .logger import Ending, LoggedRun, Logger

_RATE = 10.0
"""Largest number of images of a video per second: they are a GIF, which is large."""

_STRING = 7
"""Type of a tensor of texts."""


class TensorBoardLogger(Logger):
    """Writes the files that `tensorboard --logdir runs` shows; a resumed training writes another one beside them."""

    def __init__(self, config: TensorBoardConfig, run: LoggedRun) -> None:
        super().__init__(config, run)
        self._writer = EventFileWriter(str(run.folder / config.folder))
        if run.settings:
            text = json.dumps(run.settings, indent=2, default=str)
            self._add(0, _text("settings", "\n".join(f"    {line}" for line in text.splitlines())))

    def add_numbers(self, numbers: Mapping[str, float], iteration: int) -> None:
        """Write a number for each column."""
        self._add(iteration, *(Summary.Value(tag=key, simple_value=each) for key, each in numbers.items()))

    def add_file(self, path: Path, iteration: int) -> None:
        """Write a video as a moving image, and the name of another file as a text."""
        if path.suffix == ".mp4":
            width, height, data = _gif(path)
            image = Summary.Image(width=width, height=height, colorspace=3, encoded_image_string=data)
            self._add(iteration, Summary.Value(tag=path.stem, image=image))
        else:
            self._add(iteration, _text(f"files/{path.name}", f"`{path}`"))

    def close(self, ending: Ending) -> None:
        """Write what is left, and how the training ended."""
        self._add(0, _text("ending", ending))
        self._writer.close()

    def _add(self, iteration: int, *values: Any) -> None:
        self._writer.add_event(Event(wall_time=time.time(), step=iteration, summary=Summary(value=values)))


def _text(tag: str, text: str) -> Any:
    plugin = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return Summary.Value(tag=tag, metadata=plugin, tensor=TensorProto(dtype=_STRING, string_val=[text.encode()]))


def _gif(video: Path) -> tuple[int, int, bytes]:
    """Return width, height and the bytes of a moving image, with some of the video's images."""
    import av

    with av.open(str(video)) as container:
        rate = float(container.streams.video[0].average_rate or _RATE)
        stride = max(1, round(rate / _RATE))
        images = [each.to_image() for index, each in enumerate(container.decode(video=0)) if index % stride == 0]
    data = io.BytesIO()
    shown = round(1000.0 * stride / rate)
    images[0].save(data, "GIF", save_all=True, append_images=images[1:], duration=shown, loop=0)
    return (*images[0].size, data.getvalue())
