"""The base of viewers: the keys of all of them; and of those that write a file, which find it and count the frames."""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import optional
from pippin.binding import Binding, Host
from pippin.files import output_path
from pippin.hookspecs import hookimpl
from pippin.indices import chosen_worlds
from pippin.validators import positive, slice_or_indices


@attrs.frozen(kw_only=True)
class ViewerConfig:
    """Settings of every viewer; each plugin adds its own."""

    worlds_max: ClassVar[int] = 16
    """Number of worlds that are shown by default."""

    worlds: str | tuple[int, ...] | None = attrs.field(default=None, validator=optional(slice_or_indices))
    """Worlds to show: a slice as in Python (`"0:4"`, `"::2"`) or a list of indices; by default the first 16."""

    rate: float = attrs.field(default=30.0, validator=positive)
    """Frames per second [Hz]: of real time on a page or in a window, of simulated time in a file."""

    def worlds_of(self, count: int) -> np.ndarray:
        """Return the indices of the worlds to show, shape [shown].

        Args:
            count: Number of worlds.

        Raises:
            ConfigError: A world does not exist.
        """
        if self.worlds is None:
            return np.arange(min(count, self.worlds_max))
        return chosen_worlds(self.worlds, count, "worlds", "leave the viewer out")


def _has_suffix(instance: FileViewerConfig, attribute: attrs.Attribute[Any], value: str) -> None:
    if value and PurePath(value).suffix.lower() not in instance.suffixes:
        *others, last = instance.suffixes
        listing = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"'{attribute.name}' must end with {listing}, by which the format is chosen: {value!r}")


@attrs.frozen(kw_only=True)
class FileViewerConfig(ViewerConfig):
    """Settings of viewers that write a file."""

    suffixes: ClassVar[tuple[str, ...]]
    """Suffixes of the files that the viewer writes, the default first."""

    path: str = attrs.field(default="", validator=_has_suffix)
    """The file, whose suffix chooses the format; a relative path is in the run folder. By default the label with the
    first suffix."""


_TOLERANCE = 1e-6
"""Largest distance of a frame from its time, in frames: decimals are not exact in binary."""


class FileViewer(abc.ABC):
    """Writes a frame of the chosen worlds into a file after every `frame_period` of simulated time.

    A plugin adds `prepare`, `write` and `finish`.

    Args:
        config: The plugin's configuration, a `FileViewerConfig`.
    """

    #: The file; known after `bind`.
    path: Path
    #: Indices of the shown worlds, shape [worlds]; known after `bind`.
    worlds: np.ndarray

    def __init__(self, config: Any) -> None:
        self.config = config
        #: Number of frames so far.
        self.frame_count: int = 0
        self._start: float | None = None

    @property
    def frame_period(self) -> float:
        """Simulated time from one frame to the next [s]."""
        return 1.0 / self.config.rate

    @property
    def notes(self) -> Sequence[str]:
        """Facts that a reader of the results should know."""
        return ()

    @abc.abstractmethod
    def prepare(self, simulation: Host) -> None:
        """Find what the frames show, before the first step; `path` and `worlds` are known.

        Args:
            simulation: The simulation.

        Raises:
            ConfigError: A setting does not fit the simulation.
        """

    @abc.abstractmethod
    def write(self, simulation: Host, index: int) -> None:
        """Append the present state to the file; the first frame opens it, and replaces one that is there.

        Args:
            simulation: The simulation.
            index: Time since the first frame, in frame periods.
        """

    @abc.abstractmethod
    def finish(self) -> None:
        """Complete the file. Called once if it has a frame, also after a failed `write`."""

    @hookimpl
    def bind(self, simulation: Host, binding: Binding) -> None:
        """Find the file and the worlds.

        Raises:
            ConfigError: A world does not exist, the file cannot be written, or a setting does not fit the simulation.
            PluginError: A library is not installed.
        """
        config, label = self.config, binding.label.partition(":")[2]
        self.path = output_path(simulation.folder, config.path or f"{label}{config.suffixes[0]}")
        self.worlds = config.worlds_of(simulation.world_count)
        self.prepare(simulation)

    @hookimpl
    def frame(self, simulation: Host, time: float) -> None:
        """Write a frame of the state at `time` [s]."""
        self._start = time if self._start is None else self._start
        self.write(simulation, math.floor((time - self._start) / self.frame_period + _TOLERANCE))
        self.frame_count += 1

    @hookimpl
    def close(self) -> None:
        """Complete the file."""
        if self.frame_count:
            self.finish()
