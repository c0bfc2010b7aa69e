"""Viewers and recorders that break one promise each."""

from pathlib import Path

import attrs
import pippin
from pippin.recording import Recorder, RecorderConfig
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
