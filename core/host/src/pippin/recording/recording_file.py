"""Contract of what reads a file of a recorder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from .header import Header


class RecordingFile(Protocol):
    """A file of a recorder that is open for reading: a class that a configuration of the group `pippin.readers` names.

    The entry point has the suffix of the files as its name, without the point. `Recording` and `pippin.Run` open such
    files by it, and with them `pippin view`, the report of a run and `pippin fit`.

    Args:
        path: The file, also one that a killed process left: its whole rows are read.

    Raises:
        ConfigError: The file is damaged, or no recorder wrote it. Other exceptions become one.
    """

    header: Header
    """Everything besides the values, from `Header.from_json`."""

    def __init__(self, path: Path) -> None: ...

    def column(self, name: str) -> Any:
        """Return the values of a channel or `time` [s]: an array of shape [rows, worlds, …], of `time` [rows].

        What reads slices only when it is asked for them may be returned in its place; it has `shape` and `dtype`.

        Args:
            name: A name of `header.columns`, or `time`.
        """
        ...

    # A reader may have `repair(path)`, static: it completes a file that was cut off, and returns it and its rows.

    def close(self) -> None:
        """Close the file."""
        ...
