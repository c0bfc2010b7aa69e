"""Shared memory of processes: arrays of all worlds, of which each shard reads and writes its own rows.

The memory is a file without a name, whose descriptor is sent: nothing of it is left, however a process ends.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
from pippin import ConfigError, SimulationError

_ALIGNMENT = 64
_PLACE = "/dev/shm"


@attrs.frozen
class SharedLayout:
    """Names, shapes and types of shared arrays."""

    worlds: int
    """Number of worlds: the first axis of all arrays."""

    rows: Mapping[str, tuple[tuple[int, ...], str]]
    """Shape of the row of a world, and dtype, by name."""


class SharedArrays:
    """Arrays in shared memory: that of another process by its descriptor, or else a new one.

    Raises:
        SimulationError: There is not enough shared memory.
    """

    def __init__(self, layout: SharedLayout, file: int | None = None) -> None:
        places, size = dict[str, int](), 0
        for name, (shape, dtype) in layout.rows.items():
            places[name] = size
            bytes_needed = layout.worlds * int(np.prod(shape)) * np.dtype(dtype).itemsize
            size += -(-bytes_needed // _ALIGNMENT) * _ALIGNMENT
        #: Descriptor of the memory.
        self.file = _new_file(size) if file is None else file
        memory = mmap.mmap(self.file, size)
        #: The arrays by name, shape [worlds, …]; they keep the memory.
        self.arrays: dict[str, np.ndarray] = {
            name: np.ndarray((layout.worlds, *shape), dtype, memory, places[name])
            for name, (shape, dtype) in layout.rows.items()
        }

    def close_file(self) -> None:
        """Close the descriptor, when all have the memory."""
        os.close(self.file)


def refuse_different(layouts: Sequence[SharedLayout]) -> None:
    """Refuse shards whose worlds have other actions, observations or rewards."""
    for index, layout in enumerate(layouts):
        for name, (shape, _) in layouts[0].rows.items():
            other, _ = layout.rows.get(name, ((), ""))
            if other != shape:
                raise ConfigError(
                    f"shards: {name!r} has the shape {list(shape)} for a world of shard 0 and {list(other)} for one of"
                    f" shard {index}; let all worlds have the same joints and sensors, or leave 'shards' out"
                )


def _new_file(size: int) -> int:
    with tempfile.TemporaryFile(prefix="pippin", dir=_PLACE if os.path.isdir(_PLACE) else None) as stream:
        try:
            os.posix_fallocate(stream.fileno(), 0, size)
        except OSError as error:
            raise SimulationError(
                f"shards: {size / 1e6:.1f} MB of shared memory are needed ({error.strerror}); give {_PLACE} more space,"
                " by --shm-size of a container say, or use fewer worlds"
            ) from error
        return os.dup(stream.fileno())
