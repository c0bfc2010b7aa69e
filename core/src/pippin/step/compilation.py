"""Compiles what a step needs before the first step, side by side on all cores.

Warp compiles a module when one of its kernels is launched for the first time: one module after the other, on one
core, and without telling how many are to come. So the step is rehearsed: every operation is called once while
launches only note which module they would load, and what the operations changed is put back. Then the noted modules
are compiled together, through `warp.force_load`.

Launches are kept from running by standing in for `warp.Module.load`, which every launch asks for the compiled module,
and which may answer that there is none; `warp.capture_while`, which would wait for a result, runs its body once.
`warp.launch` itself would have been the more public place, but generic kernels and tiles are resolved behind it; and
whatever loads whole Python modules compiles kernels nobody launches.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from typing import Any

import warp as wp

from .program import Program

__all__ = ["compile_step"]

_LAUNCHES_PER_OPERATION = 20_000
"""Where rehearsing an operation ends: a Python loop that waits for what a kernel computes would never end."""


def compile_step(program: Program, progress: Callable[[int, int], None] | None = None) -> int:
    """Compile and load the modules that a step launches kernels of, and leave the simulation as it was.

    What the rehearsal does not reach, behind a branch on a computed value, say, compiles when it is first launched.

    Args:
        program: The program of a simulation that has not been stepped yet; after a step, nothing is left to compile.
        progress: Called with the number of modules ready and of all modules, first with none ready.

    Returns:
        The number of modules.
    """
    modules = _rehearse(program)
    report = progress or (lambda ready, count: None)
    report(0, len(modules))
    pool = ThreadPoolExecutor(max_workers=os.cpu_count() or 1)
    try:
        jobs = [pool.submit(_load, program.device, *variant) for variant in modules]
        for ready, _ in enumerate(as_completed(jobs), start=1):
            report(ready, len(modules))
    finally:
        pool.shutdown(cancel_futures=True)
    return len(modules)


def _load(device: wp.Device, module: wp.Module, block_dim: int | None) -> None:
    # Warp remembers a failure and raises it again at the launch, where the operation is known.
    with suppress(Exception):
        wp.force_load(device, modules=[module], block_dim=block_dim)


def _rehearse(program: Program) -> list[tuple[wp.Module, int | None]]:
    """Return each module that the operations of a step would load, with the block size of its launches."""
    found: dict[tuple[wp.Module, int | None], None] = {}
    with program.undone():
        for operation in program.operations:
            # Without results of kernels an operation may fail; what it launched until then is known.
            with suppress(Exception), _noting_launches(found):
                operation.run()
    return sorted(found, key=lambda variant: len(variant[0].kernels), reverse=True)


class _LongRehearsalError(Exception):
    """An operation launches more kernels than any operation does."""


@contextmanager
def _noting_launches(found: dict[tuple[wp.Module, int | None], None]) -> Iterator[None]:
    """Note the modules that this thread launches kernels of, instead of loading them."""
    launches = 0

    def note(module: wp.Module, device: Any, block_dim: int | None = None, *_: Any) -> None:
        nonlocal launches
        launches += 1
        if launches > _LAUNCHES_PER_OPERATION:
            raise _LongRehearsalError
        found[module, block_dim] = None

    def once(condition: wp.array, while_body: Any, stream: Any = None, **arguments: Any) -> None:
        if callable(while_body):  # it may be a graph, whose kernels are loaded
            while_body(**arguments)

    with _standing_in(wp.Module, "load", note), _standing_in(wp, "capture_while", once):
        yield


@contextmanager
def _standing_in(owner: Any, name: str, substitute: Callable[..., Any]) -> Iterator[None]:
    """Replace an attribute that is called, for this thread; other threads get what was there."""
    original, here = getattr(owner, name), threading.get_ident()

    def call(*args: Any, **options: Any) -> Any:
        return (substitute if threading.get_ident() == here else original)(*args, **options)

    setattr(owner, name, call)
    try:
        yield
    finally:
        setattr(owner, name, original)
