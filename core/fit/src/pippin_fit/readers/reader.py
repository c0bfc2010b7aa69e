"""Choice of the reader of a log, and the contract of readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from pippin import ComponentConfig, ConfigError, PluginError
from pippin.catalog import Catalog
from pippin.config import structure_choice
from pippin.recording import Recording

_BY_SUFFIX = {".csv": "csv", ".npz": "npz", ".h5": "hdf5", ".hdf5": "hdf5", ".mcap": "mcap", ".parquet": "parquet"}


class LogReader(Protocol):
    """Contract of a reader: a class that a configuration of the group `pippin.logs` names, called with it."""

    form: str
    """Required contents of a file, in one line for errors."""

    def __init__(self, config: Any) -> None: ...

    def read(self, path: Path, targets: str) -> Iterable[Mapping[str, Any]]:
        """Yield the arrays of each log of a file.

        The names are `time` [s], shape [samples]; `joints`, the names of the joints; `position`, `command` and, if
        there are measurements, `velocity`, shape [samples, joints] each. Others may be there: `command_time` if
        commands came at times of their own, `name` if a file has several logs, and `notes`, lines for the user.

        Args:
            path: The file.
            targets: Kind of the commands: `position_targets`, `velocity_targets` or `feedforward`.

        Raises:
            ConfigError: The file lacks something.
            OSError, ValueError, LookupError: The file is no log of this kind.
        """
        ...


def make_reader(path: Path, chosen: ComponentConfig | None) -> LogReader:
    """Return the reader of a file: the one of the configuration, or by default the one of the file's suffix.

    Raises:
        PluginError: It is not installed, or broken, or lacks its library.
        ConfigError: No reader is for such files.
    """
    choice = chosen or structure_choice("log", {"type": _kind_of(path)})
    reader: Any = Catalog.installed().find("log", choice.type).load()
    return reader(choice.config)


def _kind_of(path: Path) -> str:
    if path.is_dir():
        return "lerobot"
    if _is_recording(path):
        return "recording"
    if path.suffix not in _BY_SUFFIX:
        known = ", ".join(_BY_SUFFIX)
        raise ConfigError(f"fit.logs: '{path}' has no suffix of a log, {known}; name its reader by fit.reader")
    return _BY_SUFFIX[path.suffix]


def _is_recording(path: Path) -> bool:
    try:
        with Recording(path):
            return True
    except (ConfigError, PluginError):  # it may be a log of another kind, or its reader lacks a library
        return False
