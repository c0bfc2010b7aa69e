"""Recorder `npz`: a file of NumPy arrays; until the end its rows are in a file beside it, so that a kill loses none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pippin.recording import Header, Recorder

from .file import assemble, spool_of
from .spool import Spool, SpoolWriter

_MARGIN = 1_000_000
"""Free bytes beside the size of the npz file that its assembly needs."""


class NpzRecorder(Recorder):
    """The default recorder: an npz file, read by `numpy.load` and `pippin.Run`.

    The array of a channel has the channel's name; `labels/NAME` and `units/NAME` have its names and units. Until the
    end, the rows are in `PATH.rows`, which `pippin.Run` reads and `pippin recover` turns into an npz file. At the
    end the disk needs room for the rows twice; without it, the file of rows stays.
    """

    suffix = ".npz"

    @property
    def growing_path(self) -> Path:
        """The file of rows."""
        return spool_of(self.path)

    def open(self, path: Path, header: Header) -> None:
        """Begin the file of rows."""
        self._rows_file = SpoolWriter(spool_of(path), header)

    def write(self, rows: np.ndarray) -> None:
        """Append rows to the file of rows."""
        self._rows_file.write(rows)

    def finish(self) -> None:
        """Assemble the npz file, and remove the file of rows; it stays if there is no room for both."""
        self._rows_file.close()
        spool = spool_of(self.path)
        if self.free_bytes(self.path) < spool.stat().st_size + _MARGIN:
            self.notes.append(
                f"the rows are in '{spool}', as there is no room for '{self.path.name}'; pippin.Run reads them,"
                " and `pippin recover` writes the npz file"
            )
            return
        assemble(Spool(spool), self.path)
        spool.unlink()

    def join(self, files: Any, path: Path) -> None:
        """Assemble the npz file from the files of several processes."""
        assemble(files, path)
