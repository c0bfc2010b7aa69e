"""No shared memory, as on a GPU: `array.numpy()` is a copy, and pinned memory is copied while the host goes on.

What Pippin does only where the host shares memory is left out here: it asks `shares_memory`, which asks Warp. Arrays
of the host are those that are pinned, and those made of a pointer.
"""

import ctypes
import sys
from functools import wraps
from types import ModuleType

import numpy as np

HOST_ONLY = ("warp", "pippin_solver_mujoco_native", "pippin_task.gym.sharded_worlds", "pippin.indices")
"""Modules that may ask for shared memory: Warp itself, a solver that refuses GPUs, memory that processes share, and
what asks an array for its device before it reads it."""

PART = ("tests/views/test_rows.py", "tests/recording/test_row_buffer.py", "tests/state/test_snapshot.py")


def _asks_for_the_host(depth: int) -> bool:
    """Tell whether the caller's caller is a module that may ask for shared memory."""
    name = sys._getframe(depth + 1).f_globals.get("__name__", "")
    return any(name == each or name.startswith(f"{each}.") for each in HOST_ONLY)


class _Pending:
    """Copies of pinned memory that the host has not waited for: what it reads is not there yet, nor may it write."""

    def __init__(self) -> None:
        self._reads: list[tuple[np.ndarray, np.ndarray]] = []
        self._writes: dict[int, tuple[np.ndarray, bytes]] = {}

    def read(self, host: np.ndarray, numbers: np.ndarray) -> None:
        """Fill memory of the host with rubbish, until it waits."""
        host[...] = 0xA5
        self._reads.append((host, numbers))

    def write(self, host: np.ndarray) -> None:
        """Remember what a copy reads."""
        self.look(host.ctypes.data)
        self._writes[host.ctypes.data] = (host, host.tobytes())

    def look(self, address: int) -> None:
        """Find whether the host changed memory that a copy was still reading."""
        host, numbers = self._writes.pop(address, (None, b""))
        if host is not None and host.tobytes() != numbers:
            raise AssertionError("the host wrote into pinned memory before the copy of its last contents had ended")

    def wait(self) -> None:
        """End all copies."""
        reads, self._reads = self._reads, []
        for host, numbers in reads:
            host[...] = numbers
        for address in list(self._writes):
            self.look(address)


_PENDING = _Pending()


def _patch_types(types: ModuleType) -> None:
    array, view = types.array, types.array.numpy
    interface, convert, from_data = array.__array_interface__, array.__array__, array._init_from_data

    def numpy(self, **options):
        _PENDING.wait()
        values = view(self, **options)
        # `copy()` would leave out the bytes between the fields of a struct.
        return values if self.pinned else np.ndarray(values.shape, values.dtype, bytearray(values.tobytes()))

    def is_shared(self):
        return self.device is None or self.pinned or _asks_for_the_host(2)

    def array_interface(self):
        if is_shared(self):
            return interface.fget(self)
        raise AttributeError("the host does not share this memory")

    def as_array(self):
        if is_shared(self):
            return convert.fget(self)

        def reject(dtype=None, copy=None):
            raise TypeError("in this lane, the host shares no memory; call array.numpy()")

        return reject

    def init_from_data(self, data, dtype, shape, device, copy, pinned):
        return from_data(self, data, dtype, shape, device, copy or not _asks_for_the_host(2), pinned)

    array.numpy, array._init_from_data = numpy, init_from_data
    array.__array_interface__, array.__array__ = property(array_interface), property(as_array)


def _bytes_of(array, first: int, count: int, size: int) -> np.ndarray:
    """Return the memory of some elements of a dense array."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * (count * size)).from_address(array.ptr + first * size))


def _patch_context(context: ModuleType) -> None:
    copy = context.copy
    allocator = context.Device.get_allocator
    context.Device.get_allocator = lambda self, pinned=False: allocator(self, pinned=pinned and self.is_cuda)

    @wraps(copy)
    def late_copy(dest, src, dest_offset=0, src_offset=0, count=0, stream=None):
        is_dense = all(getattr(each, "is_contiguous", False) for each in (dest, src))
        pinned = [each for each in (dest, src) if getattr(each, "pinned", False)]
        number = count or getattr(src, "size", 0)
        copy(dest, src, dest_offset, src_offset, count, stream)
        if not (is_dense and number and pinned):
            return
        size = context.warp._src.types.type_size_in_bytes(src.dtype)
        if dest.pinned:
            host = _bytes_of(dest, dest_offset, number, size)
            _PENDING.read(host, host.copy())
        else:
            _PENDING.write(_bytes_of(src, src_offset, number, size))

    context.copy = late_copy
    for name in ("synchronize", "synchronize_device", "synchronize_stream", "synchronize_event"):
        setattr(context, name, _waiting(getattr(context, name)))


def _waiting(synchronize):
    @wraps(synchronize)
    def wait(*args, **options):
        _PENDING.wait()
        return synchronize(*args, **options)

    return wait


def _refuse_pointers(snapshot: ModuleType) -> None:
    class _Refused:
        def __getattr__(self, name):
            raise AssertionError(f"ctypes.{name} of an array: the host shares no memory")

    snapshot.ctypes = _Refused()


def _refuse_views(memory: ModuleType) -> None:
    def of(self, *args, **options):
        raise AssertionError("a NumPy array over an array: the host shares no memory")

    memory.NumpyArrayCache.of = of


PATCHES = {
    "warp._src.types": _patch_types,
    "warp._src.context": _patch_context,
    "pippin.state.snapshot": _refuse_pointers,
    "pippin.views.memory": _refuse_views,
}
