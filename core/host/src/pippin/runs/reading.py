"""Runs read back: the configuration, the summary and the recordings of a folder, by name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from pippin.closing import Closing
from pippin.config import SimulationConfig, load
from pippin.errors import ConfigError, PluginError
from pippin.recording.reading import Recording, readable_suffixes
from pippin.recording.series import Series
from pippin.spelling import did_you_mean


class Run(Closing):
    """A run folder: `run["joint_q"]` is a series, `run.recordings` has the recorders' files by label.

    Args:
        path: The folder.

    Raises:
        ConfigError: The folder does not exist, or has two files of one recorder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        #: The folder.
        self.path: Path = Path(path)
        if not self.path.is_dir():
            raise ConfigError(f"Run: '{self.path}' is not a folder; name the folder of a run")
        found: dict[str, Recording] = {}
        parts: dict[str, list[Path]] = {}
        unread: dict[Path, str] = {}
        for file in _files(self.path):
            try:
                recording = Recording(file)
            except (ConfigError, PluginError) as error:
                unread[file] = str(error)
                continue
            if recording.header.whole is not None:
                parts.setdefault(recording.label, []).append(file)
                recording.close()
                continue
            if recording.label in found:
                raise ConfigError(
                    f"{self.path}: '{found[recording.label].path}' and '{recording.path}' are both of the recorder"
                    f" {recording.label!r}; move one of them, or open each as a pippin.recording.Recording"
                )
            found[recording.label] = recording
        for label, files in parts.items():
            if label not in found:  # else they are about to be removed
                found[label] = Recording(*files)
        #: Reasons why other files with a suffix of recordings were not read, by file: they are damaged, not of a
        #: recorder, or need a library.
        self.unread: Mapping[Path, str] = MappingProxyType(unread)
        #: The recordings by the label of their recorder.
        self.recordings: Mapping[str, Recording] = MappingProxyType(found)

    @property
    def config(self) -> SimulationConfig | None:
        """The configuration of the run, from `config.toml`; None if the folder has none."""
        file = self.path / "config.toml"
        return load(file) if file.exists() else None

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """The figures of the run, from `summary.json`; None if the run did not come to its end.

        Raises:
            ConfigError: The file is damaged.
        """
        file = self.path / "summary.json"
        try:
            return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{file}: not the summary of a run ({error}); remove it, or name another folder"
            ) from error

    @property
    def time(self) -> np.ndarray:
        """Simulated time of each row of the only recording [s], shape [rows]."""
        return self._only("time").time

    @property
    def worlds(self) -> tuple[int, ...]:
        """Indices of the worlds of the only recording."""
        return self._only("worlds").worlds

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(channel for each in self.recordings.values() for channel in each))

    def __contains__(self, name: object) -> bool:
        return any(name in each for each in self.recordings.values())

    def __getitem__(self, name: str) -> Series:
        """Return the series of a channel, from the only recording that has it.

        Raises:
            ConfigError: No recording has the channel, or several have it.
        """
        holders = [each for each in self.recordings.values() if name in each]
        if len(holders) == 1:
            return holders[0][name]
        if not holders:
            names = list(self)
            hint = did_you_mean(name, names) or ";"
            raise ConfigError(
                f"{self.path}: no channel {name!r}{hint} channels: {', '.join(names) or 'none'}", *self.unread.values()
            )
        return self._only(repr(name))[name]

    def _only(self, what: str) -> Recording:
        recordings = tuple(self.recordings.values())
        if len(recordings) == 1:
            return recordings[0]
        labels = ", ".join(self.recordings) or "none"
        raise ConfigError(
            f"{self.path}: {what}: the folder has several recordings or none; choose one of run.recordings: {labels}",
            *self.unread.values(),
        )

    def close(self) -> None:
        """Close the files."""
        for recording in self.recordings.values():
            recording.close()


def _files(folder: Path) -> list[Path]:
    """Return the recordings in a folder; the rows of an npz file only if it was not completed."""
    suffixes = readable_suffixes()
    files = sorted(path for path in folder.rglob("*") if path.suffix in suffixes and path.is_file())
    return [path for path in files if path.suffix != ".rows" or path.with_suffix("") not in files]
