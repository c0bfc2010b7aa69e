"""Mirrors of arrays on the host: the same memory if the host shares it, otherwise memory that is copied."""

from __future__ import annotations

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.devices import shares_memory


class HostMirror:
    """An array on a device, and its numbers on the host.

    Args:
        array: The array, dense.
        is_read: Whether the host reads the array; otherwise it writes it. Only memory for reading is pinned: a copy
            from other memory has read it when the call returns, so that the next call may overwrite it.
    """

    def __init__(self, array: wp.array, *, is_read: bool = False) -> None:
        #: The array on the device, of the shape that was passed.
        self.array: wp.array = array
        self._host: wp.array | None = None
        #: The numbers on the host, of the shape of the array: those of the last `read`, or those for the next `write`.
        self.numbers: np.ndarray
        if shares_memory(present(array.device)):
            self.numbers = array.numpy()
        elif is_read:
            self._host = wp.zeros_like(array, device="cpu", pinned=True)
            self.numbers = self._host.numpy()
        else:
            self.numbers = np.zeros_like(array.numpy())
            self._host = wp.array(ptr=self.numbers.ctypes.data, dtype=array.dtype, shape=array.shape, device="cpu")

    def read(self, count: int | None = None) -> np.ndarray:
        """Return the numbers on the host, of the shape of the array, after waiting.

        Args:
            count: Number of the first ones that are waited for; None for all.
        """
        if self._host is not None and count != 0:
            wp.copy(self._host, self.array, count=count or 0)
            wp.synchronize_device(self.array.device)
        return self.numbers

    def read_copy(self) -> np.ndarray:
        """Return the numbers on the host in memory of their own, of the shape of the array."""
        return self.read().copy()

    def write(self, count: int | None = None) -> None:
        """Write numbers to the device.

        Args:
            count: Number of the first ones that are written; None for all.
        """
        if self._host is not None and count != 0:
            wp.copy(self.array, self._host, count=count or 0)

    def assign(self, values: np.ndarray) -> None:
        """Write values to the device.

        Args:
            values: The values, of the shape of the array.
        """
        self.numbers[...] = values
        if self._host is not None:
            self.write()
