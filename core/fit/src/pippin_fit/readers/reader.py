"""Choice of the reader of a log, and the contract of readers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from pippin import ComponentConfig, ConfigError, PluginError, did_you_mean
from pippin.catalog import Catalog, Entry
from pippin.config import structure_choice
from pippin.recording import Recording

_BY_SUFFIX = {".csv": "csv", ".npz": "npz", ".h5": "hdf5", ".hdf5": "hdf5", ".mcap": "mcap", ".parquet": "parquet"}

_ARRAYS = ("time", "joints", "position", "velocity", "command", "command_time", "name", "notes")


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
            OSError, ValueError: The file is no log of this kind. Any other error is a fault of the reader.
        """
        ...


def read_arrays(path: Path, chosen: ComponentConfig | None, targets: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the arrays of each log of a file with the form of such files, as its reader says it: the reader of the
    configuration, or by default the one of the file's suffix. Arguments and arrays are those of `LogReader.read`.

    Raises:
        PluginError: The reader is not installed, or broken, or lacks its library.
        ConfigError: No reader is for such files, or the file is no log.
    """
    choice = chosen or structure_choice("log", {"type": _kind_of(path)})
    entry = Catalog.installed().find("log", choice.type)
    with entry.attributed("__init__"):
        reader: Any = entry.load()(choice.config)
        form: str = reader.form
    is_read = False
    with entry.attributed("read"):
        try:
            for arrays in reader.read(path, targets):
                _refuse_others(entry, arrays)
                is_read = True
                yield arrays, form
        except (OSError, ValueError) as error:
            raise ConfigError(f"fit.logs: '{path}' is no log ({error}, says {entry}); {form}") from error
    if not is_read:
        raise ConfigError(f"fit.logs: {entry} finds no log in '{path}'; {form}")


def _refuse_others(entry: Entry, arrays: Any) -> None:
    if not isinstance(arrays, Mapping):
        raise PluginError(f"{entry}: read yields {type(arrays).__name__}; yield the arrays of a log by name")
    if missing := [name for name in ("time", "joints") if name not in arrays]:
        raise PluginError(f"{entry}: read yields no {missing[0]!r}; yield it, shape [samples], or names of joints")
    if odd := [name for name in arrays if name not in _ARRAYS]:
        raise PluginError(f"{entry}: read yields {odd[0]!r}, which no log has{did_you_mean(odd[0], _ARRAYS)}")


def _kind_of(path: Path) -> str:
    if path.is_dir():
        return "lerobot"
    with suppress(ConfigError, PluginError), Recording(path):  # else a log, or the reader lacks a library
        return "recording"
    if path.suffix not in _BY_SUFFIX:
        known = ", ".join(_BY_SUFFIX)
        raise ConfigError(f"fit.logs: '{path}' has no suffix of a log, {known}; name its reader by fit.reader")
    return _BY_SUFFIX[path.suffix]
