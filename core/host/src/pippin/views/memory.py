"""Arrays of Warp, NumPy, PyTorch or JAX in a view: read in place where they can be, or copied into memory made once.

NumPy arrays, and objects with `__cuda_array_interface__` or `__dlpack__`, are read in place if they are on the same
device. Making an array takes longer than a small kernel. The arrays made here do not keep the memory alive: use them
within a call.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.devices import kind_of, shares_memory
from pippin.state.host_mirror import HostMirror
from pippin.state.snapshot import Scratch

from .errors import ViewError

Array = Any
"""An array of Warp, NumPy, PyTorch, JAX or another library with DLPack or an array interface."""


@attrs.frozen
class CheckedData:
    """The data of one call of a setter, as numbers or as an array of any library."""

    where: str
    shape: tuple[int, ...]
    data: Any
    numbers: np.ndarray | None
    """The data if it lies on the host."""

    is_checked: bool
    """Whether all values in the rows that are written are allowed; otherwise kernels have to check them."""


def as_warp(array: Array, where: str, device: wp.Device) -> wp.array:
    """Return an array of another library as a Warp array over the same memory.

    The device is that of the view, which holds for a CUDA array interface: such an array does not tell its own.
    """
    if isinstance(array, wp.array):
        return array
    if isinstance(array, np.ndarray):
        return _of_numpy(array, where)
    if hasattr(array, "__dlpack__"):
        try:
            return wp.from_dlpack(array)  # pyrefly: ignore[bad-return]
        except (BufferError, IndexError, RuntimeError, TypeError, ValueError) as error:
            raise unreadable(where, array, error) from error
    if hasattr(array, "__cuda_array_interface__") and kind_of(device) == "cuda":
        return wp.array(array, copy=False, device=device)
    raise ViewError(f"{where}: expected an array, got {type(array).__name__}; pass one of Warp, NumPy, PyTorch or JAX")


def unreadable(where: str, array: Any, error: Exception) -> ViewError:
    """Return the error about an array whose memory its library does not hand out."""
    return ViewError(
        f"{where}: the memory of this {type(array).__name__} cannot be read: {error}; pass float32 numbers with at"
        " least one axis and without gradients: `data.detach()`"
    )


def _of_numpy(array: np.ndarray, where: str) -> wp.array:
    if not array.ndim:
        raise ViewError(f"{where}: expected an array with at least one axis, got a single number")
    if array.dtype not in (np.float32, np.int32, np.bool_, np.uint8):
        raise ViewError(f"{where}: expected float32, got {array.dtype}; convert it: `data.astype(np.float32)`")
    dtype = wp.dtype_from_numpy(array.dtype)
    pointer = array.__array_interface__["data"][0]
    return wp.array(ptr=pointer, dtype=dtype, shape=array.shape, strides=array.strides, device="cpu")


def scalar_shape(array: wp.array) -> tuple[int, ...]:
    """Return the shape of an array with the components of its vectors and matrices as axes of their own."""
    return (*array.shape, *getattr(array.dtype, "_shape_", ()))


def broadcastable(source: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Return whether a shape broadcasts to another one as NumPy does it, without axes that the other does not have."""
    return len(source) <= len(shape) and all(
        length in (1, target) for length, target in zip(source[::-1], shape[::-1], strict=False)
    )


def deliver(values: wp.array, out: Array | None, where: str) -> Array:
    """Return values, or `out` with the values copied into it."""
    if out is None:
        return values
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ViewError(f"{where}: out cannot be written; pass an array that can")
    target = as_warp(out, f"{where}: out", present(values.device))
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
    if target.dtype is not values.dtype:
        wp.copy(target, wp.array(ptr=values.ptr, dtype=target.dtype, shape=target.shape, device=values.device))
    else:
        wp.copy(target, values)
    if target.device != values.device:
        wp.synchronize_device(values.device)
    return out


_REMEMBERED = 32
"""Largest number of arrays in a cache; without a limit, a caller with new arrays each time would fill the memory."""


class WarpArrayCache(Scratch):
    """Warp arrays over the memory of other arrays, made once for each memory and type."""

    def __init__(self) -> None:
        self._cached: dict[tuple[Any, ...], wp.array] = {}

    def of(self, base: wp.array, dtype: Any, count: int, *, offset: int = 0, stride: int | None = None) -> wp.array:
        """Return `alias` of the same arguments, from the cache if possible."""
        key = (base.ptr, dtype, count, offset, stride)
        cached = self._cached.get(key)
        if cached is None:
            cached = alias(base, dtype, count, offset=offset, stride=stride)
            _remember(self._cached, key, cached)
        return cached


class NumpyArrayCache(Scratch):
    """NumPy arrays over the memory of Warp arrays that the host shares, made once for each memory, type and shape."""

    def __init__(self) -> None:
        self._cached: dict[tuple[Any, ...], np.ndarray] = {}

    def of(
        self,
        array: wp.array,
        dtype: Any,
        shape: tuple[int, ...] | None = None,
        *,
        offset: int = 0,
        strides: tuple[int, ...] | None = None,
    ) -> np.ndarray:
        """Return shared memory of an array as one of another type and shape, from the cache if possible.

        Offset and strides are in bytes. By default the array has the same shape, and is dense.
        """
        key = (array.ptr, array.shape, dtype, shape, offset, strides)
        cached = self._cached.get(key)
        if cached is None:
            size = array.size * wp.types.type_size_in_bytes(array.dtype)
            memory: Any = (ctypes.c_byte * size).from_address(array.ptr or 0) if size else b""
            cached = np.ndarray(array.shape if shape is None else shape, dtype, memory, offset, strides)
            _remember(self._cached, key, cached)
        return cached


class Staging(Scratch):
    """Memory that is allocated once, for up to `size` numbers that a kernel cannot read in place."""

    def __init__(self, size: int, dtype: str, device: wp.Device) -> None:
        self.dtype = dtype
        self._type: Any = getattr(wp, dtype)
        self._device = device
        self._is_shared = shares_memory(device)
        self._mirror = HostMirror(wp.zeros(size, dtype=self._type, device=device))
        self._in_place: dict[tuple[int, tuple[int, ...]], wp.array] = {}

    def dense(self, checked: CheckedData) -> wp.array:
        """Return the data of a setter as a dense array on the device: in place if it is one, else as a copy.

        The data broadcasts to its shape; numbers on the host do so by their check.

        Raises:
            ViewError: The type or shape is wrong, or the data would have to be copied inside a capture.
        """
        numbers, shape, where = checked.numbers, checked.shape, checked.where
        if numbers is None:
            return self._take(checked.data, shape, where)
        is_dense = numbers.dtype == self._mirror.numbers.dtype and numbers.shape == shape and numbers.flags.c_contiguous
        if is_dense and self._is_shared:
            pointer = numbers.__array_interface__["data"][0]
            key = (pointer, shape)
            cached = self._in_place.get(key)
            if cached is None:
                cached = wp.array(ptr=pointer, dtype=self._type, shape=shape, device="cpu")
                _remember(self._in_place, key, cached)
            return cached
        self._refuse_capture(where)
        count = math.prod(shape)
        with np.errstate(over="ignore", invalid="ignore"):  # in rows that are not written
            np.copyto(self._mirror.numbers[:count].reshape(shape), numbers, casting="unsafe")
        self._mirror.write(count)
        return self._room(shape)

    def _take(self, data: Any, shape: tuple[int, ...], where: str) -> wp.array:
        array = as_warp(data, where, self._device)
        scalar = getattr(array.dtype, "_wp_scalar_type_", array.dtype)
        if scalar != self._type and not (self._type is wp.uint8 and scalar is wp.bool):
            raise ViewError(f"{where}: expected {self.dtype}, got {scalar.__name__}; convert it before it is passed")
        present_shape = scalar_shape(array)
        if present_shape == shape and array.device == self._device and array.is_contiguous:
            return array
        if not broadcastable(present_shape, shape):
            raise ViewError(
                f"{where}: expected shape {list(shape)}, or what broadcasts to it, got {list(present_shape)}"
            )
        self._refuse_capture(where)
        return self._spread(array, present_shape, shape)

    def _spread(self, array: wp.array, present_shape: tuple[int, ...], shape: tuple[int, ...]) -> wp.array:
        size = wp.types.type_size_in_bytes(self._type)
        strides = tuple(int(stride or 0) for stride in array.strides or ())
        inner = present_shape[len(strides) :]
        strides += tuple(size * math.prod(inner[axis + 1 :]) for axis in range(len(inner)))
        missing = len(shape) - len(present_shape)
        steps = [0 if length == 1 else stride for length, stride in zip(present_shape, strides, strict=True)]
        source = wp.array(
            ptr=array.ptr, dtype=self._type, shape=shape, strides=(*[0] * missing, *steps), device=array.device
        )
        dense = self._room(shape)
        wp.copy(dense, source)
        return dense

    def _room(self, shape: tuple[int, ...]) -> wp.array:
        return wp.array(ptr=self._mirror.array.ptr, dtype=self._type, shape=shape, device=self._device)

    def _refuse_capture(self, where: str) -> None:
        if self._device.is_capturing:
            raise ViewError(
                f"{where}: inside a capture, data has to lie dense on {self._device}, so that a replay reads it there"
            )


def alias(base: wp.array, dtype: Any, count: int, *, offset: int = 0, stride: int | None = None) -> wp.array:
    """Return an array of another type over an array's memory; offset and stride are in bytes, dense by default."""
    stride = wp.types.type_size_in_bytes(dtype) if stride is None else stride
    return wp.array(ptr=(base.ptr or 0) + offset, dtype=dtype, shape=(count,), strides=(stride,), device=base.device)


def _remember(cache: dict[Any, Any], key: Any, array: Any) -> None:
    if len(cache) >= _REMEMBERED:
        cache.clear()
    cache[key] = array
