"""Strict capture: while a graph is recorded, what CUDA refuses, or what a replay would not repeat, raises.

On the CPU, Warp records by noting launches, and whatever else the host does works as ever. On CUDA the driver records a
stream: a read waits for work that has not run, a copy from ordinary host memory is repeated from wherever that memory
was, and the body of a conditional node takes kernels, memsets and copies on the device alone. The references are to
Warp 1.19: `.py` files below `warp/_src`, `.cu` and `.cpp` files below `warp/native`.

An allocation from the memory pool is allowed while a graph is recorded: it becomes a node (`wp_alloc_device_async`,
warp.cu:782). In the body of a conditional node it is not: `wp_cuda_graph_check_conditional_body` (warp.cu:4304) lets no
such node pass. The CPU's own allocator stands for the pool here.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

NOTES = "PIPPIN_LANE_NOTES"
"""Environment variable that names a file; a line of JSON is added to it for each refusal, with the calls behind it."""

IS_WITHOUT_POOL = "PIPPIN_TEST_WITHOUT_POOL" in os.environ
"""Whether the GPU has no memory pool, so that no allocation may be recorded at all."""

KNOWN = ("solver_xpbd.py:581 ", "solver_semi_implicit.py:268 ")
"""Lines of Newton that do so nevertheless: what CUDA makes of them is on the page *Test on a GPU*."""

ON_HOST = (f"{os.sep}pippin_solver_mujoco_native{os.sep}",)
"""Packages that refuse a GPU, and may read while a user records."""

_depth = 0
"""Number of bodies of conditional nodes that are being recorded, one inside the other."""


class RecordingError(RuntimeError):
    """While a graph was recorded, something happened that CUDA refuses or that a replay does not repeat."""


def _is_recording() -> bool:
    runtime = getattr(sys.modules.get("warp._src.context"), "runtime", None)
    return runtime is not None and runtime._apic_capture is not None


def _is_in_body() -> bool:
    return _depth > 0 and _is_recording()


def _refuse(what: str) -> None:
    frames = traceback.extract_stack()
    outside = [each for each in frames if f"{os.sep}warp{os.sep}" not in each.filename and each.filename != __file__]
    where = f"{outside[-1].filename}:{outside[-1].lineno} in {outside[-1].name}"
    if os.environ.get(NOTES):
        calls = [f"{each.filename}:{each.lineno} {each.name}" for each in outside[-20:]]
        note = {"what": what, "where": where, "test": os.environ.get("PYTEST_CURRENT_TEST", ""), "calls": calls}
        with Path(os.environ[NOTES]).open("a", encoding="utf-8") as notes:
            notes.write(json.dumps(note) + "\n")
    if not any(known in where for known in (*KNOWN, *ON_HOST)):
        raise RecordingError(f"while a graph is recorded: {what}, at {where}")


def _guard(
    owner: Any,
    name: str,
    what: str,
    *,
    is_refused: Callable[[], bool] = _is_recording,
    when: Callable[..., bool] = lambda *_, **__: True,
) -> None:
    """Let a function refuse calls; `when` gets their arguments, and may let one pass."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if is_refused() and when(*args, **options):
            _refuse(what)
        return function(*args, **options)

    setattr(owner, name, call)


def _guard_context(context: ModuleType) -> None:
    # context.py:12667 to 12822: on a CUDA device that records, each of them raises by itself.
    for name in ("synchronize", "synchronize_device", "synchronize_stream", "synchronize_event"):
        _guard(context, name, f"{name}() waits for the device")
    _guard(context, "get_event_elapsed_time", "get_event_elapsed_time() waits for the device")

    # A load while a graph is recorded needs driver 12.3 (context.py:13584), and a program that is recorded has run.
    def is_new(module: Any, device: Any, block_dim: int | None = None, *_: Any, **__: Any) -> bool:
        block_dim = module.options["block_dim"] if block_dim is None else block_dim
        return (context.runtime.get_device(device).context, block_dim) not in module.execs

    _guard(context.Module, "load", "a module is loaded", when=is_new)

    # `cudaMallocHost` is no work of a stream: the mode of Warp's captures (context.py:13507) forbids it.
    _guard(context.CpuPinnedAllocator, "allocate", "pinned memory is allocated outside the memory pool")
    where = "" if IS_WITHOUT_POOL else " in the body of a conditional node"
    is_refused = _is_recording if IS_WITHOUT_POOL else _is_in_body
    _guard(context.CpuDefaultAllocator, "allocate", f"memory is allocated{where}", is_refused=is_refused)

    branch = context._apic_capture_branch

    @functools.wraps(branch)
    def record_body(*args: Any, **options: Any) -> Any:
        global _depth
        _depth += 1
        try:
            return branch(*args, **options)
        finally:
            _depth -= 1

    context._apic_capture_branch = record_body


def _guard_types(types: ModuleType) -> None:
    # numpy() copies on the null stream and waits (types.py:4731), which ends the capture of another stream in an error.
    _guard(types.array, "numpy", "numpy() reads an array")
    _guard(types.noncontiguous_array_base, "numpy", "numpy() reads an array")
    # An array on CUDA has no such attribute (types.py:4143).
    interface = types.array.__array_interface__.fget

    def read(self: Any) -> Any:
        if _is_recording():
            _refuse("NumPy reads an array")
        return interface(self)

    types.array.__array_interface__ = property(read)

    # "The host->device copy of pageable memory is not CUDA-graph-capture safe" (bvh.cu:836); where a graph is saved,
    # Warp refuses it (context.py:15227).
    def is_of_host(_: Any, source: Any) -> bool:
        return not types.is_array(source)

    for kind in (types.array, types.noncontiguous_array_base):
        _guard(kind, "assign", "assign() copies from pageable host memory", when=is_of_host)
    _guard(types.array, "_init_from_data", "an array is made of values, which copies from pageable host memory")
    for name in ("Mesh", "Bvh", "HashGrid", "Volume"):
        _guard(getattr(types, name), "__init__", f"a {name} is made, which copies from pageable host memory")

    # What allocates or copies in native code, on CUDA alone. Sorts find their memory outside the graph (sort.cu:158),
    # and a refit of a BVH needs none.
    _guard_in_body(types.Mesh, "refit", "Mesh.refit() allocates (mesh.cu:371, scan.cu:108)")
    _guard_in_body(types.Bvh, "rebuild", "Bvh.rebuild() allocates (bvh.cu:502)")
    # The copy is recorded from memory that all grids share (hashgrid.cpp:331).
    _guard(types.HashGrid, "build", "HashGrid.build() copies from pageable host memory")


def _guard_utils(utils: ModuleType) -> None:
    places = {"array_scan": "scan.cu:108", "runlength_encode": "runlength_encode.cu:24"}
    places |= {"array_sum": "reduce.cu:92", "array_inner": "reduce.cu:235"}
    for name, place in places.items():
        _guard_in_body(utils, name, f"{name}() allocates ({place})")


def _guard_in_body(owner: Any, name: str, what: str) -> None:
    _guard(owner, name, f"{what} in the body of a conditional node", is_refused=_is_in_body)


def _take_the_way_of_cuda(devices: ModuleType) -> None:
    """MuJoCo Warp allocates when it takes over a change of the model (set_const.py:632): on CUDA not in a branch."""
    devices.allocates_in_branches = lambda device: False


PATCHES = {
    "pippin.devices": _take_the_way_of_cuda,
    "warp._src.context": _guard_context,
    "warp._src.types": _guard_types,
    "warp._src.utils": _guard_utils,
}

PART = ("tests/step/test_resetting.py", "core/task/tests/events/test_model_of_groups.py")
