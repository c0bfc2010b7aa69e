"""Datasets of LeRobot, format v3, that are being written: what is there has whole episodes at any time."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pippin import ConfigError

from .video import QUANTILES, EpisodeVideo, Statistics

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


_CHUNK = 1000
"""Files of a chunk."""

HEADER = "meta/pippin.json"
"""The header of the recording, which LeRobot does not read."""

UNFINISHED = "unfinished"
"""Folder of the videos of episodes that are not over."""

_DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_VIDEOS = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
_EPISODES = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"


@attrs.frozen(kw_only=True, eq=False)
class _Kept:
    values: Mapping[str, np.ndarray]
    videos: Mapping[str, EpisodeVideo]
    length: int

    @property
    def is_done(self) -> bool:
        return all(video.is_done for video in self.videos.values())


class Dataset:
    """A folder with a dataset.

    Args:
        folder: The folder; a dataset of a recorder that is there is replaced.
        features: The columns of numbers, without `INDICES`.
        videos: The declarations of the videos by feature.
        fps: Frames per second.
        instruction: What the robot does.
        robot_type: The kind of the robot.

    Raises:
        ConfigError: The folder holds something else.
    """

    def __init__(
        self,
        folder: Path,
        features: Sequence[DatasetFeature],
        videos: Mapping[str, Mapping[str, Any]],
        fps: int,
        instruction: str,
        robot_type: str,
    ) -> None:
        self.folder = folder
        _clear(folder)
        self._fps, self._instruction = fps, instruction
        self._features = (*features, *INDICES)
        self._waiting: list[_Kept] = []
        self._count = self._frame_count = self._file_count = 0
        self._statistics: dict[str, Statistics] = {}
        declared = {feature.name: feature.plain for feature in features} | dict(videos)
        self._info: dict[str, Any] = {
            "codebase_version": "v3.0",
            "robot_type": robot_type,
            "total_episodes": 0,
            "total_frames": 0,
            "total_tasks": 1,
            "chunks_size": _CHUNK,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": fps,
            "splits": {},
            "data_path": _DATA,
            "video_path": _VIDEOS if videos else None,
            "features": declared | {feature.name: feature.plain for feature in INDICES},
        }

    def begin(self, header: str) -> None:
        """Write what does not depend on episodes; `header` is that of the recording."""
        (self.folder / "meta").mkdir(parents=True, exist_ok=True)
        (self.folder / HEADER).write_text(header, encoding="utf-8")
        pandas: dict[str, Any] = {
            "index_columns": ["task"],
            "column_indexes": [],
            "columns": [
                {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64"},
                {"name": "task", "field_name": "task", "pandas_type": "unicode", "numpy_type": "object"},
            ],
        }
        for column in pandas["columns"]:
            column["metadata"] = None
        table = pa.table({"task_index": pa.array([0], pa.int64()), "task": [self._instruction]})
        pq.write_table(
            table.replace_schema_metadata({"pandas": json.dumps(pandas)}), self.folder / "meta" / "tasks.parquet"
        )

    def unfinished(self, name: str) -> Path:
        """Return the path of a video whose episode is not over."""
        return self.folder / UNFINISHED / name

    def add(self, values: Mapping[str, np.ndarray], videos: Mapping[str, EpisodeVideo], length: int) -> None:
        """Keep an episode: values by feature, shape [frames, numbers], and its videos, which end now."""
        for video in videos.values():
            video.end()
        self._waiting.append(_Kept(values=values, videos=videos, length=length))

    def commit(self, *, waits: bool = False) -> None:
        """Write the episodes whose videos are complete, in the order in which they ended; or wait for all of them."""
        ready: list[_Kept] = []
        while self._waiting and (waits or self._waiting[0].is_done):
            ready.append(self._waiting.pop(0))
        if ready:
            self._write(ready)

    def close(self) -> None:
        """Write the rest."""
        self.commit(waits=True)
        shutil.rmtree(self.folder / UNFINISHED, ignore_errors=True)

    def _write(self, episodes: Sequence[_Kept]) -> None:
        """Write a table of frames and one of episodes, then what counts them.

        All are there under other names before the first one gets its own: a reader finds all or nothing of them, unless
        the process is killed within the few renamings.
        """
        file = _indices(self._file_count)
        tables, rows = [], []
        for episode in episodes:
            tables.append(self._table(episode))
            rows.append(self._row(episode, file))
        targets = [self.folder / path.format(**file) for path in (_DATA, _EPISODES)]
        partials = [_partial(path) for path in targets]
        with pq.ParquetWriter(partials[0], tables[0].schema, compression="snappy") as writer:
            for table in tables:
                writer.write_table(table)
        pq.write_table(pa.Table.from_pylist(rows), partials[1], compression="snappy")
        self._file_count += 1
        self._info |= {"total_episodes": self._count, "total_frames": self._frame_count}
        self._info["splits"] = {"train": f"0:{self._count}"}
        numbers = {
            name: {key: value.tolist() for key, value in each.items()} for name, each in self._statistics.items()
        }
        for name, data in (("stats", numbers), ("info", self._info)):
            targets.append(self.folder / "meta" / f"{name}.json")
            partials.append(_partial(targets[-1]))
            partials[-1].write_text(json.dumps(data, indent=4, ensure_ascii=False), encoding="utf-8")
        for partial, target in zip(partials, targets, strict=True):
            os.replace(partial, target)

    def _table(self, episode: _Kept) -> pa.Table:
        frames = np.arange(episode.length)
        values = dict(episode.values)
        values["timestamp"] = frames / self._fps
        values["frame_index"] = frames
        values["episode_index"] = np.full(episode.length, self._count)
        values["index"] = frames + self._frame_count
        values["task_index"] = np.zeros(episode.length)
        self._last = values
        arrays = [feature.array(values[feature.name]) for feature in self._features]
        return pa.Table.from_arrays(arrays, schema=pa.schema([feature.field for feature in self._features]))

    def _row(self, episode: _Kept, file: Mapping[str, int]) -> dict[str, Any]:
        number = _indices(self._count)
        row: dict[str, Any] = {
            "episode_index": self._count,
            "tasks": [self._instruction],
            "length": episode.length,
            "data/chunk_index": file["chunk_index"],
            "data/file_index": file["file_index"],
            "dataset_from_index": self._frame_count,
            "dataset_to_index": self._frame_count + episode.length,
        }
        found = {
            feature.name: _of_values(self._last[feature.name].reshape(episode.length, -1)) for feature in self._features
        }
        for name, video in episode.videos.items():
            found[name] = video.statistics()
            target = self.folder / _VIDEOS.format(video_key=name, **number)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(video.path, target)
            row |= {f"videos/{name}/{key}": value for key, value in number.items()}
            row |= {f"videos/{name}/from_timestamp": 0.0, f"videos/{name}/to_timestamp": episode.length / self._fps}
        for name, statistics in found.items():
            row |= {f"stats/{name}/{key}": value.tolist() for key, value in statistics.items()}
            parts = [self._statistics[name], statistics] if name in self._statistics else [statistics]
            self._statistics[name] = _joined(parts)
        row |= {f"meta/episodes/{key}": value for key, value in file.items()}
        self._count += 1
        self._frame_count += episode.length
        return row


def _indices(number: int) -> dict[str, int]:
    return {"chunk_index": number // _CHUNK, "file_index": number % _CHUNK}


def _partial(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f"{path.name}.part")


def _clear(folder: Path) -> None:
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / HEADER).is_file():
        raise ConfigError(f"path: '{folder}' is not empty, and no dataset of Pippin; choose another folder")
    for name in ("data", "videos", "meta", UNFINISHED):
        shutil.rmtree(folder / name, ignore_errors=True)


def _of_values(values: np.ndarray) -> Statistics:
    """Return the statistics of values, shape [frames, numbers]: each has shape [numbers]."""
    values = values.astype(float)
    found = {"min": values.min(axis=0), "max": values.max(axis=0), "mean": values.mean(axis=0)}
    quantiles = np.quantile(values, list(QUANTILES.values()), axis=0)
    found |= {"std": values.std(axis=0), "count": np.array([len(values)])}
    return found | dict(zip(QUANTILES, quantiles, strict=True))


def _joined(parts: Sequence[Mapping[str, np.ndarray]]) -> Statistics:
    """Return the statistics of several episodes together; quantiles are means, weighted by frames, as LeRobot's."""
    counts = np.array([int(part["count"][0]) for part in parts], dtype=float)
    weights = counts / counts.sum()

    def mean(values: Sequence[np.ndarray]) -> np.ndarray:
        return np.tensordot(weights, np.stack(values), axes=1)

    total = mean([part["mean"] for part in parts])
    variance = mean([part["std"] ** 2 + (part["mean"] - total) ** 2 for part in parts])
    found = {name: mean([part[name] for part in parts]) for name in QUANTILES}
    return {
        "min": np.min([part["min"] for part in parts], axis=0),
        "max": np.max([part["max"] for part in parts], axis=0),
        "mean": total,
        "std": np.sqrt(variance),
        "count": np.array([int(counts.sum())]),
        **found,
    }
