"""Recordings read back: the series of a file by name, whatever its format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pippin.catalog import Catalog
from pippin.closing import Closing
from pippin.errors import ConfigError, PippinError
from pippin.spelling import did_you_mean

from .header import Header
from .partial_files import PartialFiles
from .recording_file import RecordingFile
from .series import Series


class Recording(Closing, Mapping[str, Series]):
    """A file of a recorder: a series for each recorded channel, by name.

    Args:
        path: The file, also one that a killed process left.
        *others: The files of the other worlds, if several processes recorded the run: the rows that all have are read.

    Raises:
        ConfigError: A file does not exist, is damaged, or no recorder wrote it; or the files do not belong together.
        PluginError: The library of the format is not installed.
    """

    def __init__(self, path: str | os.PathLike[str], *others: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        #: For the core: The files as one; None for one file.
        self.partial_files: PartialFiles | None = None
        if others:
            self.partial_files = PartialFiles({Path(each): open_recording(Path(each)) for each in (path, *others)})
        self._file: Any = self.partial_files or open_recording(self.path)
        #: Everything besides the values: worlds, channels, times of the steps, configuration and versions.
        self.header: Header = self._file.header
        self._columns = {column.name: column for column in self.header.columns}

    @property
    def label(self) -> str:
        """Label of the recorder."""
        return self.header.label

    @property
    def worlds(self) -> tuple[int, ...]:
        """Indices of the recorded worlds, in the order of the second axis."""
        return self.header.worlds

    @property
    def time(self) -> np.ndarray:
        """Simulated time of each row [s], shape [rows]."""
        return np.asarray(self._values("time")[:])

    def __getitem__(self, name: str) -> Series:
        if name == "time":
            return Series(values=self.time, units=("s",))
        if name not in self._columns:
            hint = did_you_mean(name, self._columns) or ";"
            raise ConfigError(f"{self.path}: no channel {name!r}{hint} channels: {', '.join(self._columns)}")
        column = self._columns[name]
        return Series(
            values=self._values(name),
            labels=column.labels,
            units=column.units,
            frame=column.frame,
            components=column.components,
        )

    def _values(self, name: str) -> Any:
        try:
            return self._file.column(name)
        except PippinError:
            raise
        except Exception as error:  # decoders raise errors of any class about what is damaged or forged
            raise ConfigError(Header.fault(self.path, f"{name!r}: {error}")) from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def readable_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the recordings that can be read: those of the installed readers."""
    return tuple(f".{name}" for name in Catalog.installed().names("reader"))


def is_readable(path: Path) -> bool:
    """Return whether recordings with the suffix of a path can be read."""
    return path.suffix in readable_suffixes()


def open_recording(path: Path) -> RecordingFile:
    """Return a file of a recorder, open for reading."""
    if not is_readable(path) or not path.is_file():
        raise ConfigError(f"{path}: not a recording; name a file that ends with {', '.join(readable_suffixes())}")
    entry = Catalog.installed().find("reader", path.suffix[1:])
    reader: type[RecordingFile] = entry.load()
    try:
        return reader(path)
    except PippinError:
        raise
    except Exception as error:  # of any class, as above
        raise ConfigError(Header.fault(path, f"{entry} raised {type(error).__name__}: {error}")) from error
