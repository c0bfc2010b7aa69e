"""Rows of a recording: gathered in a buffer of fixed size, and taken out many at a time."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.devices import shares_memory
from pippin.state.host_mirror import HostMirror

from .channels import Channel
from .series import row_type

_BYTE: Any = wp.uint8

Write = Callable[[int], Any]


def row_buffer(channels: Sequence[Channel], size: int, device: wp.Device) -> RowBuffer:
    """Return a buffer of at most `size` bytes, or of one row, for channels on a device."""
    return HostRowBuffer(channels, size) if shares_memory(device) else DeviceRowBuffer(channels, size)


class RowBuffer(abc.ABC):
    """A buffer of rows, each with the time and the values of all channels.

    Args:
        size: Size of the buffer [bytes]; it holds at least one row.
    """

    def __init__(self, channels: Sequence[Channel], size: int) -> None:
        self._type = row_type(channels)
        #: Number of rows that the buffer can hold.
        self.capacity = max(1, size // self._type.itemsize)
        #: Size of a row [bytes].
        self.row_size: int = self._type.itemsize
        #: Number of rows in the buffer.
        self.count = 0
        self._updates = tuple(dict.fromkeys(channel.update for channel in channels if channel.update is not None))
        self._times = np.zeros(self.capacity)
        self._writes: list[Write] = []

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another row."""
        return self.count == self.capacity

    def add(self, time: float) -> None:
        """Add a row with the latest values and a time [s]; nothing waits for the device."""
        for update in self._updates:
            update()
        row = self.count
        self._times[row] = time
        for write in self._writes:
            write(row)
        self.count = row + 1

    def take(self) -> np.ndarray:
        """Empty the buffer and return its rows, a structured array; the next `add` overwrites them."""
        count, self.count = self.count, 0
        rows = self._read(count)
        rows["time"] = self._times[:count]
        return rows

    @abc.abstractmethod
    def _read(self, count: int) -> np.ndarray: ...


class HostRowBuffer(RowBuffer):
    """Rows of arrays in shared memory: they keep their address, so a row is one NumPy assignment for each channel."""

    def __init__(self, channels: Sequence[Channel], size: int) -> None:
        super().__init__(channels, size)
        self._rows = np.zeros(self.capacity, dtype=self._type)
        self._writes = [_assigning(self._rows[channel.name], channel.source.numpy()) for channel in channels]

    def _read(self, count: int) -> np.ndarray:
        return self._rows[:count]


class DeviceRowBuffer(RowBuffer):
    """Rows of arrays on any device: gathered there, and read in one piece, with one wait."""

    def __init__(self, channels: Sequence[Channel], size: int) -> None:
        super().__init__(channels, size)
        ring: wp.array = wp.zeros(self.capacity * self.row_size, dtype=_BYTE, device=channels[0].source.device)
        self._ring = HostMirror(ring, is_read=True)
        fields: Any = self._type.fields
        self._writes = [_copying(ring, channel.source, fields[channel.name][1], self.row_size) for channel in channels]

    def _read(self, count: int) -> np.ndarray:
        return self._ring.read(count * self.row_size).view(self._type)[:count]


def _assigning(column: np.ndarray, view: np.ndarray) -> Write:
    def write(row: int) -> None:
        column[row] = view

    return write


def _copying(ring: wp.array, source: wp.array, offset: int, row_size: int) -> Write:
    """Return the function that copies an array into a row of the ring, as bytes; one that has gaps is packed before."""
    packed = source if source.is_contiguous else wp.empty(source.shape, dtype=source.dtype, device=source.device)
    size = packed.size * wp.types.type_size_in_bytes(packed.dtype)
    flat = wp.array(ptr=packed.ptr, shape=(size,), dtype=_BYTE, device=ring.device)
    flat._ref = packed

    def write(row: int) -> None:
        if packed is not source:
            wp.copy(packed, source)
        wp.copy(ring, flat, dest_offset=row * row_size + offset, count=size)

    return write
