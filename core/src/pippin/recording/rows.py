"""Rows of a recording: gathered in a buffer of fixed size, and taken out many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import warp as wp

from .channels import Channel
from .column import row_type

__all__ = ["Rows"]

Write = Callable[[int], Any]


class Rows:
    """A buffer of rows, each with the time and the values of all channels.

    On the CPU the arrays of a simulation keep their address, so that a row costs one NumPy assignment for each channel.
    On a CUDA device the rows are gathered on the device, and read in one piece, with one wait.

    Args:
        channels: The channels.
        size: Size of the buffer [bytes]; it holds at least one row.
        device: The device of the channels' arrays.
    """

    def __init__(self, channels: Sequence[Channel], size: int, device: wp.Device) -> None:
        self._type = row_type(channels)
        #: Number of rows that the buffer can hold.
        self.capacity = max(1, size // self._type.itemsize)
        #: Size of a row [bytes].
        self.row_size: int = self._type.itemsize
        #: Number of rows in the buffer.
        self.count = 0
        self._updates = tuple(dict.fromkeys(channel.update for channel in channels if channel.update is not None))
        if device.is_cpu:
            self._host = np.zeros(self.capacity, dtype=self._type)
            self._times = self._host["time"]
            self._writes = [_host_writer(self._host[each.name], each.source) for each in channels]
            self._ring = None
            return
        bytes_in_all = self.capacity * self._type.itemsize
        self._times = np.zeros(self.capacity)
        self._ring = _bytes(bytes_in_all, device=device)
        self._pinned = _bytes(bytes_in_all, device="cpu", pinned=True)
        self._host = self._pinned.numpy().view(self._type)
        self._writes = list(self._device_writers(channels, self._ring))

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
        rows = self._host[:count]
        if self._ring is not None:
            wp.copy(self._pinned, self._ring, count=count * self._type.itemsize)
            wp.synchronize_device(self._ring.device)
            rows["time"] = self._times[:count]
        return rows

    def _device_writers(self, channels: Iterable[Channel], ring: wp.array) -> Iterable[Write]:
        fields: Any = self._type.fields
        for channel in channels:
            if channel.source.size:
                yield _device_writer(ring, channel.source, fields[channel.name][1], self._type.itemsize)


def _bytes(size: int, **options: Any) -> wp.array:
    dtype: Any = wp.uint8
    return wp.empty(size, dtype=dtype, **options)


def _host_writer(column: np.ndarray, source: wp.array) -> Write:
    view = source.numpy()

    def write(row: int) -> None:
        column[row] = view

    return write


def _device_writer(ring: wp.array, source: wp.array, offset: int, row_size: int) -> Write:
    """Return the function that copies an array into a row of the ring, as bytes; one that has gaps is packed before."""
    packed = source if source.is_contiguous else wp.empty(source.shape, dtype=source.dtype, device=source.device)
    size = packed.size * wp.types.type_size_in_bytes(packed.dtype)
    flat = wp.array(ptr=packed.ptr, shape=(size,), dtype=wp.uint8, device=ring.device)
    flat._ref = packed

    def write(row: int) -> None:
        if packed is not source:
            wp.copy(packed, source)
        wp.copy(ring, flat, dest_offset=row * row_size + offset, count=size)

    return write
