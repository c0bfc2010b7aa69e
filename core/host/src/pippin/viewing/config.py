"""The settings that viewers have in common."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, ClassVar

import attrs
import numpy as np
from attrs.validators import optional
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
