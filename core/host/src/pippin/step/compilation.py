"""Compiles what a build and a step need side by side on all cores, before they need it.

Warp compiles a module when one of its kernels is launched for the first time: one module after the other, on one
core, and without telling how many are to come. So the work is rehearsed: it is done once while launches only note
which module they would load. Then the noted modules are compiled together, through `warp.force_load`. What a rehearsed
step changed is put back; a build is rehearsed on a second simulation, which is thrown away.

Launches are kept from running by standing in for `warp.Module.load`, which every launch asks for the compiled module,
and which may answer that there is none; `warp.capture_while`, which would wait for a result, runs its body once, and
`warp.capture_if` both branches; new arrays hold zeros, so that what reads results finds no arbitrary indices.
`warp.launch` itself would have been the more public place, but generic kernels and tiles are resolved behind it; and
whatever loads whole Python modules compiles kernels nobody launches.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeAlias, cast

import warp as wp
from pippin.devices import WARP_LOCK, kind_of

Report: TypeAlias = Callable[[str], None]
"""Called with how many of the modules are ready, first with none, and once a second with those that take long."""

_Variant: TypeAlias = "tuple[wp.Module, str, int | None]"
"""A module, the name of its device, and the block size of its launches."""

Build: TypeAlias = Callable[[], AbstractContextManager[Any]]
"""Builds a simulation."""

_LONG = 2.0
"""Time after which the report names the modules that are being compiled [s]."""

_LAUNCHES_MAX = 20_000
"""Launches after which a rehearsal ends: a Python loop that waits for the result of a kernel would never end."""

_IS_REHEARSAL = ContextVar("is_rehearsal", default=False)

_LOGGER = logging.getLogger(__name__)


def compile_together(calls: Iterable[Callable[[], None]], progress: Report | None = None) -> int:
    """Compile and load the modules that some calls launch kernels of, side by side; no kernel runs.

    What the rehearsal does not reach compiles when it is first launched: what stands behind a branch on a computed
    value.

    Args:
        calls: What to rehearse. What they change otherwise, such as arrays that they copy, is for the caller to undo.
        progress: What is told how far it is; by default a logger of Python's.

    Returns:
        The number of modules.
    """
    found: dict[_Variant, None] = {}
    _rehearse(calls, found)
    return _load_together(found, progress or _log)


class UncompiledError(BaseException):
    """A launch needs a module that has to be compiled first. No `except Exception` of a plugin takes it for its own."""


@contextmanager
def refusing_to_compile() -> Iterator[None]:
    """Raise `UncompiledError` at the first launch of a block that needs a module which is not in the kernel cache."""
    load = wp.Module.load

    def watch(module: wp.Module, device: Any, block_dim: int | None = None, *more: Any, **options: Any) -> Any:
        if not _is_cached(module, wp.get_device(device), block_dim):
            raise UncompiledError
        return load(module, device, block_dim, *more, **options)

    with standing_in(wp.Module, "load", watch):
        yield


@contextmanager
def compiling_together(rehearse: Build, progress: Report | None = None) -> Iterator[None]:
    """Compile the modules of a build side by side, as soon as one of them is not in the kernel cache.

    A launch inside the `with` block that needs such a module lets the build be rehearsed first. If all of them are in
    the cache, nothing happens.

    Args:
        rehearse: Builds the same simulation another time, which is then closed; a few worlds launch the same kernels.
            What it raises is ignored.
        progress: As for `compile_together`.
    """
    if _IS_REHEARSAL.get():
        yield
        return
    is_done, load = False, wp.Module.load

    def watch(module: wp.Module, device: Any, block_dim: int | None = None, *more: Any, **options: Any) -> Any:
        nonlocal is_done
        if not is_done and not _is_cached(module, wp.get_device(device), block_dim):
            is_done = True
            _load_together(_launched_by(rehearse), progress or _log)
        return load(module, device, block_dim, *more, **options)

    with WARP_LOCK, standing_in(wp.Module, "load", watch):
        yield


def _is_cached(module: wp.Module, device: wp.Device, block_dim: int | None) -> bool:
    """Tell whether a module is loaded or in the kernel cache; if it cannot be compiled, Warp says why itself."""
    with suppress(Exception):
        if (device.context, module.options["block_dim"] if block_dim is None else block_dim) in module.execs:
            return True
        kind = f"*.sm{device.get_cuda_compile_arch()}*" if kind_of(device) == "cuda" else "*.o"
        return any(Path(wp.config.kernel_cache_dir or "", module.get_module_identifier(block_dim)).glob(kind))
    return True


def _launched_by(rehearse: Build) -> dict[_Variant, None]:
    found: dict[_Variant, None] = {}
    with rehearsing(), suppress(Exception), _noting_launches(found), rehearse() as simulation:
        _rehearse(simulation.program.recordable_calls(), found)
    return found


@contextmanager
def rehearsing() -> Iterator[None]:
    """Build simulations inside of the block silently, and without a rehearsal of their own."""
    is_rehearsal = _IS_REHEARSAL.set(True)
    try:
        with warnings.catch_warnings(action="ignore"), redirect_stdout(io.StringIO()):  # the build itself says it again
            yield
    finally:
        _IS_REHEARSAL.reset(is_rehearsal)


def _rehearse(calls: Iterable[Callable[[], None]], found: dict[_Variant, None]) -> None:
    for call in calls:
        # Without results of kernels a call may fail; what it launched until then is known.
        with suppress(Exception), _noting_launches(found):
            call()


def _load_together(found: dict[_Variant, None], report: Report) -> int:
    variants = sorted(found, key=lambda variant: len(variant[0].kernels), reverse=True)
    report(f"0 of {len(variants)}")
    pool = ThreadPoolExecutor(max_workers=os.cpu_count() or 1)
    starts: dict[str, float] = {}
    try:
        left: set[Future[None]] = {pool.submit(_load, *variant, starts) for variant in variants}
        while left:
            done, left = wait(left, timeout=1.0, return_when=FIRST_COMPLETED)
            if done or starts:
                report(f"{len(variants) - len(left)} of {len(variants)}{_long(starts)}")
    finally:
        pool.shutdown(cancel_futures=True)
    return len(variants)


def _load(module: wp.Module, device: str, block_dim: int | None, starts: dict[str, float]) -> None:
    name = ".".join(module.name.split(".")[-2:])
    starts[name] = time.monotonic()
    # Warp remembers a failure and raises it again at the launch, where the operation is known.
    with suppress(Exception):
        wp.force_load(device, modules=[module], block_dim=block_dim)
    starts.pop(name, None)


def _long(starts: dict[str, float]) -> str:
    times = {name: time.monotonic() - start for name, start in starts.copy().items()}
    return "".join(f", {name} {passed:.0f} s" for name, passed in times.items() if passed >= _LONG)


def _log(text: str) -> None:
    _LOGGER.info("compile  %s", text)


class _LongRehearsalError(Exception):
    """An operation launches more kernels than any operation does."""


def _noting_launches(found: dict[_Variant, None]) -> AbstractContextManager[None]:
    def note(module: wp.Module, device: Any, block_dim: int | None = None, *_: Any) -> None:
        found[module, str(wp.get_device(device)), block_dim] = None

    return noting_launches(note)


@contextmanager
def noting_launches(note: Callable[..., Any]) -> Iterator[None]:
    """Call a function instead of `wp.Module.load` for each launch of this thread."""
    launches, fem = 0, cast(Any, sys.modules.get("warp._src.fem.cache"))
    get = fem and fem.get_integrand_kernel

    def count(*arguments: Any) -> Any:
        nonlocal launches
        launches += 1
        if launches > _LAUNCHES_MAX:
            raise _LongRehearsalError
        return note(*arguments)

    def once(condition: wp.array, while_body: Any, stream: Any = None, **arguments: Any) -> None:
        if callable(while_body):  # it may be a graph, whose kernels are loaded
            while_body(**arguments)

    def both(
        condition: wp.array, on_true: Any = None, on_false: Any = None, stream: Any = None, **arguments: Any
    ) -> None:
        for branch in (on_true, on_false):
            if callable(branch):
                branch(**arguments)

    def own(*arguments: Any, **options: Any) -> Any:
        # `warp.fem` has one set of arguments for each kernel, also for a launch that a rehearsal interrupts.
        kernel, *structs = get(*arguments, **options)
        return kernel, *(each and each._cls() for each in structs)

    with (
        standing_in(wp.Module, "load", count),
        standing_in(wp, "capture_if", both),
        standing_in(wp, "capture_while", once),
        standing_in(wp, "empty", wp.zeros),
        standing_in(wp, "empty_like", wp.zeros_like),
        standing_in(fem, "get_integrand_kernel", own) if fem else nullcontext(),
    ):
        yield


@contextmanager
def standing_in(owner: Any, name: str, substitute: Callable[..., Any]) -> Iterator[None]:
    """Replace an attribute that is called, for this thread; other threads get what was there."""
    original, here = getattr(owner, name), threading.get_ident()

    def call(*args: Any, **options: Any) -> Any:
        return (substitute if threading.get_ident() == here else original)(*args, **options)

    setattr(owner, name, call)
    try:
        yield
    finally:
        setattr(owner, name, original)
