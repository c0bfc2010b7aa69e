"""Logs of arrays by name: archives of NumPy, and HDF5 files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pippin.array_files import read_arrays
from pippin.extras import import_library
from pippin.files import refuse_expansion

from .configs import Hdf5LogConfig, NpzLogConfig

_SIGNALS = ("position", "velocity", "command")


class NpzReader:
    """Reads an archive of NumPy."""

    form = "an npz file has the arrays 'time', 'position', 'command', 'joints' and perhaps 'velocity'"

    def __init__(self, config: NpzLogConfig) -> None:
        self._config = config

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of the file."""
        yield _named(read_arrays(path), self._config)


class Hdf5Reader:
    """Reads an HDF5 file."""

    form = "an HDF5 file has the arrays 'time', 'position', 'command', 'joints' and perhaps 'velocity'"

    def __init__(self, config: Hdf5LogConfig) -> None:
        self._config = config
        self._library: Any = import_library("h5py", "hdf5")

    def read(self, path: Path, targets: str) -> Iterator[Mapping[str, Any]]:
        """Yield the arrays of the file."""
        with self._library.File(path) as file:
            config = self._config
            datasets = [
                file[each] for each in (config.time, *(getattr(config, kind) for kind in _SIGNALS)) if each in file
            ]
            refuse_expansion(sum(getattr(each, "nbytes", 0) for each in datasets))
            yield _named(file, self._config)


def _named(arrays: Mapping[str, Any], config: NpzLogConfig | Hdf5LogConfig) -> dict[str, Any]:
    names = config.joints
    if isinstance(names, str):
        texts = np.atleast_1d(arrays[names][()])
        names = tuple(each.decode() if isinstance(each, bytes) else str(each) for each in texts)
    found = {"joints": names, "time": np.asarray(arrays[config.time][()])}
    for kind in _SIGNALS:
        name = getattr(config, kind)
        if kind != "velocity" or name in arrays:
            found[kind] = np.asarray(arrays[name][()])
    return found
