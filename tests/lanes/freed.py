"""Memory that is not there: it was freed, or it was allocated while a graph was recorded that has not been replayed.

The CPU reads on in both cases. CUDA gives freed memory to somebody else or refuses it, and the memory of a recording
exists from the first replay of its graph on (`wp_alloc_device_async`, warp.cu:799). Here freed memory is filled with
ones, which are no numbers, and waits in a queue before it goes back to the system, so that a use can be told.
"""

from __future__ import annotations

import bisect
import ctypes
import functools
import sys
from collections import deque
from collections.abc import Iterator
from types import ModuleType
from typing import Any

LIMIT = 2**28
"""Freed memory that waits at most [bytes]."""


class MissingMemoryError(RuntimeError):
    """Something uses memory that is not there on CUDA."""


class _Ranges:
    """Pieces of memory that may not be used, in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._sizes: dict[int, int] = {}

    def add(self, start: int, size: int) -> None:
        if start not in self._sizes:
            bisect.insort(self._starts, start)
        self._sizes[start] = size

    def remove(self, start: int) -> None:
        if self._sizes.pop(start, None) is not None:
            del self._starts[bisect.bisect_left(self._starts, start)]

    def __contains__(self, address: int) -> bool:
        place = bisect.bisect_right(self._starts, address) - 1
        return place >= 0 and address < self._starts[place] + self._sizes[self._starts[place]]


_freed, _unborn = _Ranges(), _Ranges()
_waiting: deque[tuple[Any, int, int]] = deque()
_waiting_bytes = 0


def _addresses(value: Any) -> Iterator[int]:
    """Yield the addresses of the arrays in an argument, which may be a list or a struct of arrays."""
    types, codegen = sys.modules["warp._src.types"], sys.modules["warp._src.codegen"]
    if isinstance(value, list | tuple):
        for each in value:
            yield from _addresses(each)
    elif isinstance(value, types.indexedarray):
        yield from _addresses([value.data, *value.indices])
    elif isinstance(value, types.array):
        if value.size and value.ptr and not value.device.is_cuda:
            yield value.ptr
    elif isinstance(value, types.array_t):
        yield value.data
    elif isinstance(value, codegen.StructInstance):
        yield from _addresses(list(vars(value).values()))


def _runtime() -> Any:
    return sys.modules["warp._src.context"].runtime


def _guard(owner: Any, name: str) -> None:
    """Let a function refuse arrays whose memory is not there."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        is_recording = _runtime()._apic_capture is not None
        for address in _addresses([*args, *options.values(), getattr(args[0] if args else None, "params", None)]):
            if address in _freed:
                raise MissingMemoryError(f"{name}: this memory was freed")
            if not is_recording and address in _unborn:
                raise MissingMemoryError(f"{name}: this memory exists from the first replay of its graph on")
        return function(*args, **options)

    setattr(owner, name, call)


def _watch(context: ModuleType) -> None:
    for kind in (context.CpuDefaultAllocator, context.CpuPinnedAllocator):
        _watch_allocator(kind)
    for owner, name in ((context, "launch"), (context, "copy"), (context.Launch, "launch")):
        _guard(owner, name)
    replay = context.capture_launch

    @functools.wraps(replay)
    def capture_launch(graph: Any, *args: Any, **options: Any) -> Any:
        for start in vars(graph).pop("lane_allocations", ()):
            _unborn.remove(start)
        return replay(graph, *args, **options)

    context.capture_launch = capture_launch


def _watch_allocator(kind: Any) -> None:
    allocate, deallocate = kind.allocate, kind.deallocate

    def noted(self: Any, size: int) -> int:
        start = allocate(self, size)
        if _runtime()._apic_capture is not None:
            _unborn.add(start, size)
            vars(_runtime()._apic_graph).setdefault("lane_allocations", []).append(start)
        return start

    def delayed(self: Any, start: int, size: int) -> None:
        global _waiting_bytes
        if start in _freed:
            raise MissingMemoryError("this memory is freed twice")
        _unborn.remove(start)
        ctypes.memset(start, 0xFF, size)
        _freed.add(start, size)
        _waiting.append((functools.partial(deallocate, self, start, size), start, size))
        _waiting_bytes += size
        while _waiting_bytes > LIMIT:
            free, first, count = _waiting.popleft()
            _freed.remove(first)
            _waiting_bytes -= count
            free()

    kind.allocate, kind.deallocate = noted, delayed


def _watch_arrays(types: ModuleType) -> None:
    for name in ("numpy", "fill_", "zero_", "assign"):
        _guard(types.array, name)


def _watch_utils(utils: ModuleType) -> None:
    for name in ("array_scan", "array_sum", "array_inner", "radix_sort_pairs", "runlength_encode"):
        _guard(utils, name)


PATCHES = {"warp._src.context": _watch, "warp._src.types": _watch_arrays, "warp._src.utils": _watch_utils}

PART = (
    "tests/state/test_snapshot.py",
    "tests/step/test_program.py::test_a_plugin_that_launches_kernels_is_recorded_and_gives_the_same_bits[xpbd]",
)
