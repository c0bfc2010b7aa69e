"""Exchange of arrays between views and Warp, NumPy, PyTorch or JAX, without a copy if they are on the same device.

NumPy arrays, and objects with `__cuda_array_interface__` or `__dlpack__`, are read in place.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.devices import kind_of

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
