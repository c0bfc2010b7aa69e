"""Arrays of other libraries, found by their protocols: `__dlpack__`, `__array__`, or the buffer of a standard type; and
the memory of engines, as bytes.

JAX, PyTorch, CuPy and the like are not imported here. Arrays of Warp and NumPy are not foreign.
"""

from __future__ import annotations

import array
import ctypes
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import warp as wp
from pippin.solving.engine_memory import EngineMemory

_PROTOCOLS = ("__dlpack__", "__array__", "__array_interface__", "__cuda_array_interface__")
_BUFFERS = (bytearray, array.array)
_NUMBERS = (ctypes.c_float, ctypes.c_double, ctypes.c_byte, ctypes.c_short, ctypes.c_int, ctypes.c_bool)
"""Types of the items of vectors and matrices, as of `wp.vec3`; wider integers may be addresses."""


def is_foreign(node: Any) -> bool:
    """Tell whether an object is an array of another library, with contents that can be read."""
    return isinstance(node, EngineMemory) or (_may_be_foreign(type(node)) and contents_of(node) is not None)


def contents_of(node: Any) -> np.ndarray | None:
    """Return a copy of the contents of a foreign array; None if they cannot be read as numbers."""
    if isinstance(node, EngineMemory):
        return np.frombuffer(node.save(), dtype=np.uint8).copy()
    if _is_buffer(node):
        return np.frombuffer(bytes(node), dtype=np.uint8).copy()
    plain = _without_gradient(node)
    # NumPy does not read the memory of a GPU, and Warp not all types of items. `np.array` would ask for a copy, which
    # PyTorch's `__array__` does not know: NumPy warns.
    for read in (np.asarray, lambda plain: _aliased(plain).numpy()):
        with suppress(Exception):  # whatever another library raises, the array cannot be read in this way
            found = read(plain).copy()
            if not found.dtype.hasobject:
                return found
    return None


def write(node: Any, contents: np.ndarray) -> bool:
    """Write into the memory of a foreign array, and tell whether it took the contents: some arrays are immutable."""
    if isinstance(node, EngineMemory):
        node.load(contents.tobytes())
        return True
    found = contents_of(node)
    if found is None or found.shape != contents.shape:
        return False
    plain = _without_gradient(node)
    for view in (_numpy_view, _warp_view):
        with suppress(Exception):
            view(plain, contents)
            found = contents_of(node)
            if found is not None and found.tobytes() == contents.tobytes():
                return True
    return False


def remade(node: Any, contents: np.ndarray) -> Any:
    """Return a new array of the library of an immutable one, on the same device; None if the library has no such way.

    The namespace is that of the array API standard.
    """
    with suppress(Exception):
        array = node.__array_namespace__().asarray(contents, device=node.device)
        return array if type(array) is type(node) else None
    return None


@lru_cache(maxsize=4096)  # a walk asks for each of thousands of objects
def _may_be_foreign(kind: type) -> bool:
    if issubclass(kind, wp.array | np.ndarray | np.generic):
        return False
    return _is_of_buffers(kind) or any(hasattr(kind, protocol) for protocol in _PROTOCOLS)


def _is_buffer(node: Any) -> bool:
    return _is_of_buffers(type(node))


def _is_of_buffers(kind: type) -> bool:
    items = getattr(kind, "_type_", None) if issubclass(kind, ctypes.Array) else None
    return issubclass(kind, _BUFFERS) if items is None else issubclass(items, _NUMBERS)


def _without_gradient(node: Any) -> Any:
    """Return the same memory without the record of gradients, in which PyTorch refuses to hand it out."""
    detach = getattr(node, "detach", None)
    return detach() if callable(detach) else node


def _numpy_view(plain: Any, contents: np.ndarray) -> None:
    view = np.frombuffer(plain, dtype=np.uint8) if _is_buffer(plain) else np.asarray(plain)
    view[...] = contents  # raises if NumPy may only read


def _warp_view(plain: Any, contents: np.ndarray) -> None:
    plain[...] = plain  # raises if the array is immutable: what follows writes into its memory all the same
    _aliased(plain).assign(contents)


def _aliased(plain: Any) -> wp.array:
    found = wp.from_dlpack(plain)
    if not isinstance(found, wp.array):
        raise TypeError(f"expected an array, got {type(found).__name__}")
    return found
