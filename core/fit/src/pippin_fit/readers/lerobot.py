"""Logs in datasets of LeRobot, format v3: a folder with tables of all episodes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pippin import ConfigError
from pippin.array_files import UNREADABLE
from pippin.extras import import_library

from .arrays import read_table
from .configs import LeRobotConfig

_SUFFIX = ".pos"
"""End of the names of motors in datasets of LeRobot's own robots."""


class LeRobotReader:
    """Reads each episode of a dataset: the action is the command, and the state of the observation the measurement."""

    form = "a dataset of LeRobot is a folder with 'meta/info.json' and 'data/chunk-000/file-000.parquet'"

    def __init__(self, config: LeRobotConfig) -> None:
        self._config = config
        import_library("pyarrow.parquet", "parquet")  # before the folder is read

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of each episode."""
        config = self._config
        features = _features(path)
        measured, commanded = (_joints(path, features, name) for name in (config.measured, config.commanded))
        if missing := [joint for joint in measured if joint not in commanded]:
            raise ConfigError(f"fit.logs: '{path}': {config.commanded!r} has no {missing[0]!r}; name another feature")
        order = [commanded.index(joint) for joint in measured]
        columns = self._columns(path)
        episode = columns["episode_index"].astype(int)
        for index in self._episodes(path, episode):
            rows = np.flatnonzero(episode == index)
            rows = rows[np.argsort(columns["frame_index"][rows], kind="stable")]
            yield {
                "name": f"episode {index}",
                "joints": measured,
                "time": columns["timestamp"][rows],
                "position": columns[config.measured][rows],
                "command": columns[config.commanded][rows][:, order],
            }

    def _columns(self, path: Path) -> dict[str, np.ndarray]:
        config = self._config
        names = ["episode_index", "frame_index", "timestamp", config.measured, config.commanded]
        files = sorted(path.glob("data/chunk-*/file-*.parquet"))
        if not files:
            raise ConfigError(f"fit.logs: '{path}' has no data/chunk-*/file-*.parquet; download them")
        tables = [read_table(file, names) for file in files]
        return {
            name: np.concatenate([np.array(table.column(name).to_pylist(), dtype=float) for table in tables])
            for name in names
        }

    def _episodes(self, path: Path, episode: np.ndarray) -> list[int]:
        known = np.unique(episode).tolist()
        chosen = known if self._config.episodes is None else list(self._config.episodes)
        if missing := [index for index in chosen if index not in known]:
            raise ConfigError(
                f"fit.reader.episodes: '{path}' has no episode {missing[0]}; it has {known[0]} to {known[-1]}"
            )
        return chosen


def _features(path: Path) -> Mapping[str, Any]:
    try:
        info = json.loads((path / "meta" / "info.json").read_text(encoding="utf-8"))
        version, features = str(info["codebase_version"]), dict(info["features"])
    except (*UNREADABLE, RecursionError) as error:
        raise ValueError(f"meta/info.json cannot be read: {error}") from error
    if version.removeprefix("v").split(".")[0] != "3":
        raise ConfigError(f"fit.logs: '{path}' has the format {version}; convert it to v3.0 with LeRobot")
    return features


def _joints(path: Path, features: Mapping[str, Any], name: str) -> list[str]:
    if name not in features:
        raise ConfigError(f"fit.logs: '{path}' has no feature {name!r}; features: {', '.join(features)}")
    names = features[name].get("names")
    if isinstance(names, Mapping):  # in older datasets, such as {"motors": [...]}
        names = next(iter(names.values()), None)
    if not names:
        raise ConfigError(f"fit.logs: '{path}': {name!r} names no joints; add 'names' to meta/info.json")
    return [str(each).removesuffix(_SUFFIX) for each in names]
