"""Compiles what a build and a step launch for GPUs that this machine need not have.

Both are rehearsed on the CPU, which pretends to all but Warp that it is a GPU: Newton chooses other kernels and block
sizes there. Models are built in earnest, since solvers read their numbers; no other kernel runs. Then NVRTC, which
needs no driver, compiles the noted modules under the names that Warp looks for on such a GPU: as PTX, which Warp takes
if the driver is as new as its toolkit, and as code of the GPU for older drivers.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import product
from os import cpu_count
from typing import Any, TypeAlias

import newton
import warp as wp
from pippin.errors import ConfigError, SimulationError

from .compilation import Build, Report, noting_launches, rehearsing, standing_in
from .program import Program

_Sizes: TypeAlias = "dict[wp.Module, set[int]]"
"""The block sizes of the launches of each module."""

_BLOCK_SIZE = 256
"""Block size of launches on a GPU that name none."""

_PRETENDED = {"sm_count": 108, "is_mempool_supported": True, "is_mempool_enabled": True}
"""Attributes of the GPU; Newton chooses some block sizes by the number of multiprocessors."""

_IS_EARNEST = ContextVar("is_earnest", default=False)
"""Whether launches run, and the CPU is one."""

_IS_RUN = ContextVar("is_run", default=False)
"""Whether launches run, though the CPU pretends to be a GPU."""


def architectures_named(names: str) -> tuple[int, ...]:
    """Return the numbers of architectures, "sm_90,sm_80".

    Raises:
        ConfigError: NVRTC compiles for no such architecture.
    """
    known = {f"sm_{number}": number for number in wp.get_cuda_supported_archs()}
    chosen = dict.fromkeys(name.strip() for name in names.split(","))
    for name in chosen:
        if name not in known:
            what = f"use one of {', '.join(known)}" if known else "this build of Warp lacks NVRTC; reinstall warp-lang"
            raise ConfigError(f"--arch: no architecture {name!r}; {what}")
    return tuple(known[name] for name in chosen)


def compile_for(architectures: Sequence[int], build: Build, report: Report) -> tuple[int, Exception | None]:
    """Compile what a build on the CPU and a step launch into Warp's kernel cache, for GPUs such as 90.

    Return the number of modules, and the error of what could not be rehearsed, if any.
    """
    found: _Sizes = {}
    fault = [rehearse(architecture, build, found) for architecture in architectures][-1]
    with warnings.catch_warnings(), ThreadPoolExecutor(cpu_count()) as pool:
        warnings.filterwarnings("ignore", "Generic kernels without overloads")  # nothing launches these
        for done, _ in enumerate(
            pool.map(partial(_compile, architectures), *zip(*found.items(), strict=True)), start=1
        ):
            report(f"{done} of {len(found)}")
    return len(found), fault


def _compile(architectures: Sequence[int], module: wp.Module, sizes: set[int]) -> None:
    usual = module.options["block_dim"]
    try:
        for module.options["block_dim"], is_ptx in product(sizes, (True, False)):
            wp.compile_aot_module(module, None, architectures, use_ptx=is_ptx)
    except Exception as error:
        raise SimulationError(f"--arch: {module.name} does not compile: {error}; report it to its author") from error
    finally:
        module.options["block_dim"] = usual


def rehearse(architecture: int, build: Build, found: _Sizes) -> Exception | None:
    """Note what a build and a step launch on a GPU, and return the error of what could not be rehearsed, if any."""
    fault = None
    for each in build, _while(_IS_RUN, build):  # some builds need results of kernels
        try:
            with rehearsing(), _noting(found), _pretending(architecture), each() as simulation:
                return _launch(simulation.program)
        except Exception as error:
            fault = error
    # What a GPU alone can run is left out; a CPU may choose other kernels.
    with rehearsing(), _noting(found), _while(_IS_EARNEST, build)() as simulation:
        return _launch(simulation.program) or fault


def _launch(program: Program) -> Exception | None:
    fault = None
    for operation in program.operations:
        try:
            if operation.eager_reason is None:
                operation.run()
        except Exception as error:
            fault = error
    return fault


@contextmanager
def _noting(found: _Sizes) -> Iterator[None]:
    sizes, load = [_BLOCK_SIZE], wp.Module.load

    def sized(launch: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        sizes.append(options.get("block_dim") or _BLOCK_SIZE)
        try:
            return launch(*arguments, **options)
        finally:
            sizes.pop()

    def note(*arguments: Any) -> Any:
        found.setdefault(arguments[0], set()).add(sizes[-1])
        return load(*arguments) if _IS_EARNEST.get() or _IS_RUN.get() else None

    builder = newton.ModelBuilder
    with ExitStack() as stack:
        stack.enter_context(noting_launches(note))
        for name in ("launch", "launch_tiled"):
            stack.enter_context(standing_in(wp, name, partial(sized, getattr(wp, name))))
        stack.enter_context(standing_in(builder, "finalize", _while(_IS_EARNEST, builder.finalize)))
        yield


def _while(flag: ContextVar[bool], build: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any, **options: Any) -> Any:
        token = flag.set(True)
        try:
            return build(*arguments, **options)
        finally:
            flag.reset(token)

    return run


@contextmanager
def _pretending(architecture: int) -> Iterator[None]:

    def answer(truth: Callable[[wp.Device], bool], device: wp.Device) -> bool:
        caller = sys._getframe(1)
        # Warp calls native code for the kind of a device, and so does a function that asks for Warp's runtime.
        is_native = caller.f_globals["__name__"].startswith("warp.") or "runtime" in caller.f_code.co_names
        return truth(device) != (not is_native and not _IS_EARNEST.get())

    device = wp.get_device("cpu")
    with ExitStack() as stack:
        # Without a driver there is no pinned memory.
        pretended = {**_PRETENDED, "arch": architecture, "pinned_allocator": device.default_allocator}
        for name, value in pretended.items():
            stack.callback(setattr, device, name, getattr(device, name))
            setattr(device, name, value)
        for name in ("is_cuda", "is_cpu"):
            stack.callback(setattr, wp.Device, name, vars(wp.Device)[name])
            setattr(wp.Device, name, property(partial(answer, vars(wp.Device)[name].fget)))
        stack.enter_context(standing_in(wp, "is_conditional_graph_supported", lambda: True))
        yield
