"""Features: the columns and videos of a dataset, as `meta/info.json` declares them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

_TYPES = {"float32": pa.float32(), "int64": pa.int64(), "bool": pa.bool_()}


@attrs.frozen(kw_only=True)
class DatasetFeature:
    """A column of numbers."""

    name: str
    dtype: str
    size: int = 1
    names: Sequence[str] | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """The declaration, as plain data."""
        return {"dtype": self.dtype, "shape": [self.size], "names": None if self.names is None else list(self.names)}

    @property
    def field(self) -> pa.Field:
        """The field of tables: a number, or a list of several."""
        kind = _TYPES[self.dtype]
        return pa.field(self.name, kind if self.size == 1 else pa.list_(kind, self.size))

    def array(self, values: np.ndarray) -> pa.Array:
        """Return a column of values, shape [frames, numbers]."""
        flat = pa.array(np.ascontiguousarray(values, dtype=self.dtype).ravel(), type=_TYPES[self.dtype])
        return flat if self.size == 1 else pa.FixedSizeListArray.from_arrays(flat, self.size)


INDICES = (
    DatasetFeature(name="timestamp", dtype="float32"),
    DatasetFeature(name="frame_index", dtype="int64"),
    DatasetFeature(name="episode_index", dtype="int64"),
    DatasetFeature(name="index", dtype="int64"),
    DatasetFeature(name="task_index", dtype="int64"),
)
"""The features that every dataset has, after the others."""


def video_feature(height: int, width: int, fps: int, codec: str) -> dict[str, Any]:
    """Return the declaration of a video."""
    return {
        "dtype": "video",
        "shape": [height, width, 3],
        "names": ["height", "width", "channels"],
        "info": {
            "video.height": height,
            "video.width": width,
            "video.codec": codec,
            "video.pix_fmt": "yuv420p",
            "video.is_depth_map": False,
            "video.fps": fps,
            "video.channels": 3,
            "has_audio": False,
        },
    }
