"""Arrays of Warp, NumPy, PyTorch and JAX, in and out of views, without a copy if they lie on the same device.

Whatever offers `__cuda_array_interface__`, `__dlpack__` or is a NumPy array is read where it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present

from .errors import ViewError

__all__ = ["Array", "Staging", "alias", "as_warp", "deliver", "is_host_data"]

Array = Any
"""An array of Warp, NumPy, PyTorch, JAX or another library with DLPack or an array interface."""


def as_warp(array: Array, where: str) -> wp.array:
    """Return an array of another library as a Warp array over the same memory.

    Raises:
        ViewError: It offers neither DLPack nor an array interface.
    """
    if isinstance(array, wp.array):
        return array
    if isinstance(array, np.ndarray):
        return _of_numpy(array, where)
    if hasattr(array, "__dlpack__"):
        return wp.from_dlpack(array)  # pyright: ignore[reportReturnType] (textures are no DLPack)
    if hasattr(array, "__cuda_array_interface__"):
        return wp.array(array, copy=False)
    raise ViewError(f"{where}: expected an array, got {type(array).__name__}; pass one of Warp, NumPy, PyTorch or JAX")


def _of_numpy(array: np.ndarray, where: str) -> wp.array:
    if array.dtype not in (np.float32, np.int32, np.bool_, np.uint8):
        raise ViewError(f"{where}: expected float32, got {array.dtype}; convert it: `data.astype(np.float32)`")
    dtype = wp.dtype_from_numpy(array.dtype)
    pointer = array.__array_interface__["data"][0]
    return wp.array(ptr=pointer, dtype=dtype, shape=array.shape, strides=array.strides, device="cpu")


def is_host_data(data: Any) -> bool:
    """Tell whether data has to be copied to be read by a kernel: numbers, and lists of them."""
    return isinstance(data, int | float | Sequence | np.generic) and not isinstance(data, str | bytes)


def scalar_shape(array: wp.array) -> tuple[int, ...]:
    """Return the shape of an array with the components of its vectors and matrices as axes of their own."""
    return (*array.shape, *getattr(array.dtype, "_shape_", ()))


def alias(base: wp.array, dtype: Any, count: int, *, offset: int = 0, stride: int | None = None) -> wp.array:
    """Return elements of some type over an array's memory.

    Args:
        base: The array whose memory it is.
        dtype: Type of an element.
        count: The number of elements.
        offset: Where the first one begins [bytes].
        stride: From one to the next [bytes]; by default they are dense.
    """
    stride = wp.types.type_size_in_bytes(dtype) if stride is None else stride
    return wp.array(ptr=(base.ptr or 0) + offset, dtype=dtype, shape=(count,), strides=(stride,), device=base.device)


class Staging:
    """Memory that is allocated once, for data that does not lie where a kernel can read it.

    Args:
        size: The largest number of numbers.
        dtype: Their type.
        device: Where kernels read them.
    """

    def __init__(self, size: int, dtype: Any, device: wp.Device) -> None:
        self._dtype, self._device = dtype, device
        self._near = wp.zeros(size, dtype=dtype, device=device)
        # Not pinned: the copy has left it when the call returns, and the next call may write it.
        self._host = wp.zeros(size, dtype=dtype, device="cpu") if device.is_cuda else self._near
        self._numpy = self._host.numpy()

    def take(self, data: Any, shape: tuple[int, ...], where: str) -> wp.array:
        """Return data as a dense array on the device: itself if it is one, or else a copy in this memory.

        Args:
            data: An array of this type and shape; or, outside a capture, numbers that are broadcast to it.
            shape: Shape that the data must have.
            where: What its faults begin with.

        Raises:
            ViewError: Another type or shape; or it would have to be copied inside a capture.
        """
        if is_host_data(data) or (isinstance(data, np.ndarray) and data.shape != shape):
            self._refuse_capture(where)
            return self._from_host(data, shape, where)
        array = as_warp(data, where)
        self._refuse_other(array, shape, where)
        if array.device == self._device and array.is_contiguous:
            return array
        self._refuse_capture(where)
        return self._copy(array, shape)

    def _from_host(self, data: Any, shape: tuple[int, ...], where: str) -> wp.array:
        numbers = np.asarray(data)
        if isinstance(data, np.ndarray) and numbers.dtype not in (self._numpy.dtype, bool):
            raise ViewError(f"{where}: expected {self._numpy.dtype}, got {numbers.dtype}; convert it with `astype`")
        if self._numpy.dtype == np.uint8:
            numbers = numbers != 0
        count = math.prod(shape)
        try:
            np.copyto(self._numpy[:count].reshape(shape), numbers, casting="same_kind")
        except (TypeError, ValueError) as error:
            raise ViewError(
                f"{where}: expected {self._numpy.dtype} of shape {list(shape)}, or what broadcasts to it, got"
                f" {numbers.dtype} of shape {list(numbers.shape)}"
            ) from error
        if self._host is not self._near:
            wp.copy(self._near, self._host, count=count)
        return self._dense(shape)

    def _copy(self, array: wp.array, shape: tuple[int, ...]) -> wp.array:
        flat = self._dense(array.shape, array.dtype)
        wp.copy(flat, array)
        return self._dense(shape)

    def _dense(self, shape: tuple[int, ...], dtype: Any = None) -> wp.array:
        return wp.array(ptr=self._near.ptr, dtype=dtype or self._dtype, shape=shape, device=self._device)

    def _refuse_other(self, array: wp.array, shape: tuple[int, ...], where: str) -> None:
        scalar = getattr(array.dtype, "_wp_scalar_type_", array.dtype)
        if scalar != self._dtype and not (self._dtype is wp.uint8 and scalar is wp.bool):
            raise ViewError(
                f"{where}: expected {self._dtype.__name__}, got {scalar.__name__}; convert it before it is passed"
            )
        if scalar_shape(array) != shape:
            raise ViewError(f"{where}: expected shape {list(shape)}, got {list(scalar_shape(array))}")

    def _refuse_capture(self, where: str) -> None:
        if self._device.is_capturing:
            raise ViewError(
                f"{where}: inside a capture, data has to lie dense on {self._device}, so that a replay reads it there"
            )


def deliver(values: wp.array, out: Array | None, where: str) -> Array:
    """Return values, or `out` with the values copied into it.

    Raises:
        ViewError: `out` has another type or shape, cannot be written, or is on another device inside a capture.
    """
    if out is None:
        return values
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ViewError(f"{where}: out cannot be written; pass an array that can")
    target = as_warp(out, f"{where}: out")
    scalar = getattr(target.dtype, "_wp_scalar_type_", target.dtype)
    if scalar != values.dtype or scalar_shape(target) != values.shape:
        raise ViewError(
            f"{where}: out: expected {values.dtype.__name__} of shape {list(values.shape)},"
            f" got {scalar.__name__} of shape {list(scalar_shape(target))}"
        )
    if target.device != values.device and present(values.device).is_capturing:
        raise ViewError(f"{where}: out: inside a capture, it has to be on {values.device}, got {target.device}")
    if not target.is_contiguous and present(values.device).is_capturing:
        raise ViewError(f"{where}: out: inside a capture, it has to be dense")
    _copy_out(target, values)
    if target.device != values.device:
        wp.synchronize_device(values.device)
    return out


def _copy_out(target: wp.array, values: wp.array) -> None:
    if target.dtype is not values.dtype:
        values = wp.array(ptr=values.ptr, dtype=target.dtype, shape=target.shape, device=values.device)
    wp.copy(target, values)
