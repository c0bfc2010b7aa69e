"""Memory of a view for data that its kernels cannot read where it lies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import warp as wp
from pippin.state.scratch import Scratch

from .errors import ViewError
from .exchange import as_warp, scalar_shape
from .host_numbers import broadcastable

__all__ = ["Staging"]

_REMEMBERED = 32
"""Largest number of arrays kept, as in `launching.Aliases`."""


class Staging(Scratch):
    """Memory that is allocated once, for data that a kernel cannot read in place.

    Args:
        size: Largest number of elements.
        dtype: Name of the type of an element.
        device: Device of the kernels that read the data.
    """

    def __init__(self, size: int, dtype: str, device: wp.Device) -> None:
        self.dtype = dtype
        self._type: Any = getattr(wp, dtype)
        self._device = device
        self._near = wp.zeros(size, dtype=self._type, device=device)
        # Not pinned: the copy has read the buffer when the call returns, and the next call may overwrite it.
        self._host = wp.zeros(size, dtype=self._type, device="cpu") if device.is_cuda else self._near
        self._numpy: np.ndarray = self._host.numpy()
        self._in_place: dict[tuple[int, tuple[int, ...]], wp.array] = {}

    def put(self, numbers: np.ndarray, shape: tuple[int, ...], where: str) -> wp.array:
        """Return numbers on the host as a dense array on the device: in place if they are one, else as a copy.

        Args:
            numbers: Numbers that broadcast to the shape, see `host_numbers`.
            shape: Shape of the array.
            where: Beginning of error messages.

        Raises:
            ViewError: The numbers would have to be copied inside a capture.
        """
        is_dense = numbers.dtype == self._numpy.dtype and numbers.shape == shape and numbers.flags.c_contiguous
        if is_dense and not self._device.is_cuda:
            return self._of(numbers)
        self._refuse_capture(where)
        count = math.prod(shape)
        with np.errstate(over="ignore", invalid="ignore"):  # in rows that are not written
            np.copyto(self._numpy[:count].reshape(shape), numbers, casting="unsafe")
        if self._host is not self._near:
            wp.copy(self._near, self._host, count=count)
        return self._dense(shape)

    def take(self, data: Any, shape: tuple[int, ...], where: str) -> wp.array:
        """Return a Warp array, or data on a device, as a dense array on the device of the kernels.

        Args:
            data: An array that broadcasts to the shape.
            shape: Shape of the result.
            where: Beginning of error messages.

        Raises:
            ViewError: The type or shape is wrong, or the data would have to be copied inside a capture.
        """
        array = as_warp(data, where)
        scalar = getattr(array.dtype, "_wp_scalar_type_", array.dtype)
        if scalar != self._type and not (self._type is wp.uint8 and scalar is wp.bool):
            raise ViewError(f"{where}: expected {self.dtype}, got {scalar.__name__}; convert it before it is passed")
        given = scalar_shape(array)
        if given == shape and array.device == self._device and array.is_contiguous:
            return array
        if not broadcastable(given, shape):
            raise ViewError(f"{where}: expected shape {list(shape)}, or what broadcasts to it, got {list(given)}")
        self._refuse_capture(where)
        return self._spread(array, given, shape)

    def _of(self, numbers: np.ndarray) -> wp.array:
        """Return an array over the memory of numbers, which lives longer than the call."""
        pointer = numbers.__array_interface__["data"][0]
        key = (pointer, numbers.shape)
        made = self._in_place.get(key)
        if made is None:
            if len(self._in_place) >= _REMEMBERED:
                self._in_place.clear()
            made = self._in_place[key] = wp.array(ptr=pointer, dtype=self._type, shape=numbers.shape, device="cpu")
        return made

    def _spread(self, array: wp.array, given: tuple[int, ...], shape: tuple[int, ...]) -> wp.array:
        """Return a copy in this memory, in which axes of length 1 are repeated."""
        size = wp.types.type_size_in_bytes(self._type)
        strides = tuple(int(stride or 0) for stride in array.strides or ())
        inner = given[len(strides) :]
        strides += tuple(size * math.prod(inner[axis + 1 :]) for axis in range(len(inner)))
        missing = len(shape) - len(given)
        steps = [0 if given[axis] == 1 else strides[axis] for axis in range(len(given))]
        source = wp.array(
            ptr=array.ptr, dtype=self._type, shape=shape, strides=(*[0] * missing, *steps), device=array.device
        )
        dense = self._dense(shape)
        wp.copy(dense, source)
        return dense

    def _dense(self, shape: tuple[int, ...]) -> wp.array:
        return wp.array(ptr=self._near.ptr, dtype=self._type, shape=shape, device=self._device)

    def _refuse_capture(self, where: str) -> None:
        if self._device.is_capturing:
            raise ViewError(
                f"{where}: inside a capture, data has to lie dense on {self._device}, so that a replay reads it there"
            )
