"""Viewers and recorders that break one promise each."""

from pathlib import Path

import attrs
import numpy as np
import pippin
from pippin.recording import Header, Recorder, RecorderConfig
from pippin.viewing import ViewerConfig


@attrs.frozen(kw_only=True)
class ViewConfig(ViewerConfig):
    """Nothing of its own."""

    implementation = "Failing"


@attrs.frozen(kw_only=True)
class FileConfig(RecorderConfig):
    """Nothing of its own."""

    implementation = "Idle"


class Failing:
    """Cannot show a second frame."""

    def __init__(self, config):
        self.frame_period = 1e-3
        self._is_first = True

    @pippin.hookimpl
    def frame(self):
        if not self._is_first:
            raise RuntimeError("the window is gone")
        self._is_first = False


class Idle(Recorder):
    """Writes nothing."""

    suffix = ".idle"

    def open(self, path, header):
        pass

    def write(self, rows):
        pass

    def finish(self):
        pass


@attrs.frozen(kw_only=True)
class ElsewhereConfig(FileConfig):
    """Settings of `Elsewhere`."""

    implementation = "Elsewhere"


class Elsewhere(Idle):
    """Writes into the working folder."""

    def open(self, path, header):
        Path("broken-folder.rows").write_text("row")


@attrs.frozen(kw_only=True)
class ArrayConfig(RecorderConfig):
    """Nothing of its own."""

    implementation = "Array"


class Array(Recorder):
    """Writes the header in a line, and then the rows as bytes."""

    suffix = ".broken-reading"

    def open(self, path, header):
        self._file = path.open("wb")
        self._file.write(header.to_json().encode() + b"\n")

    def write(self, rows):
        self._file.write(rows.tobytes())

    def finish(self):
        self._file.close()


@attrs.frozen(kw_only=True)
class BackwardsConfig:
    """Nothing."""

    implementation = "Backwards"


class Backwards:
    """Reads the last row first."""

    def __init__(self, path):
        text, _, rows = path.read_bytes().partition(b"\n")
        self.header = Header.from_json(text, str(path))
        self._rows = np.frombuffer(rows, self.header.row_type)[::-1]

    def column(self, name):
        return self._rows[name]

    def close(self):
        pass
