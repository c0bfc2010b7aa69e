"""Abilities of this machine on GPUs, in words, with cures: compiler, driver, memory pools, conditional graphs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from multiprocessing.connection import Connection

import attrs
from pippin.devices import has_driver, start_warp
from pippin.errors import PippinError
from pippin.workers import WorkerProcess

from .doctor import START_TIMEOUT

_NO_POOL = (
    "no memory pool, so no graph can allocate; unset WARP_ENABLE_MEMPOOLS_AT_INIT, or set simulation.capture='off'"
)


@attrs.frozen(kw_only=True)
class GpuFacts:
    """Answers of Warp and the driver about GPUs: versions of CUDA, the architectures of NVRTC, and each GPU."""

    toolkit: tuple[int, int] | None
    driver: tuple[int, int] | None
    has_library: bool
    architectures: tuple[int, ...]
    gpus: tuple[tuple[str, bool], ...]
    """Each GPU, and whether its memory pool is on."""

    has_conditional_graphs: bool
    visible: str | None


def diagnose_gpus(timeout: float) -> list[str]:
    """Return what the driver and Warp tell about GPUs, asked in a process of its own: a driver may end it."""
    try:
        with WorkerProcess("the driver", _send_facts) as process:
            process.receive(START_TIMEOUT)
            return list(told(process.receive(timeout)))
    except PippinError as error:
        return [f"GPU: {error}; reinstall NVIDIA's driver"]


def gpu_report() -> list[str]:
    """Return what Warp and the driver tell about GPUs, a line for each fact, with its cure.

    It asks in this process, which a broken driver may end.
    """
    return list(told(gpu_facts()))


def _send_facts(connection: Connection) -> None:
    connection.send(None)  # the interpreter runs
    connection.send(gpu_facts())


def gpu_facts() -> GpuFacts:
    """Return what Warp and the driver say; a driver may end the process."""
    start_warp()
    import warp as wp

    return GpuFacts(
        toolkit=wp.get_cuda_toolkit_version(),
        driver=wp.get_cuda_driver_version(),
        has_library=has_driver(),
        architectures=tuple(wp.get_cuda_supported_archs()),
        gpus=tuple(
            (f"{each.alias}: {each.name}, sm_{each.arch}", each.is_mempool_supported and each.is_mempool_enabled)
            for each in wp.get_cuda_devices()
        ),
        has_conditional_graphs=wp.is_conditional_graph_supported(),
        visible=os.environ.get("CUDA_VISIBLE_DEVICES"),
    )


def told(facts: GpuFacts) -> Iterator[str]:
    """Yield a line about each fact, with its cure."""
    if facts.toolkit is None:
        yield "GPU: this build of Warp has no CUDA, so all runs on the CPU; for a GPU, reinstall warp-lang from PyPI"
        return
    names = ", ".join(f"sm_{each}" for each in facts.architectures)
    yield f"compiler: CUDA {_text(facts.toolkit)}, for {names or 'no GPU, since it lacks NVRTC; reinstall warp-lang'}"
    yield f"driver: {_driver(facts, facts.toolkit)}"
    yield from (f"{gpu}; {'memory pool on' if pool else _NO_POOL}" for gpu, pool in facts.gpus)
    if facts.has_conditional_graphs:
        yield "conditional graphs: yes, so a captured solver stops when it has converged"
    elif facts.gpus:
        cure = "install a driver for CUDA 12.4 or later"
        yield f"conditional graphs: no, so a captured solver takes all its iterations; {cure}"


def _driver(facts: GpuFacts, toolkit: tuple[int, int]) -> str:
    driver, cure = facts.driver, f"install one for CUDA {toolkit[0]}.0 or later"
    if driver is None and facts.has_library:
        return "NVIDIA's is installed, but does not answer; run `nvidia-smi`"
    if driver is None:
        return f"none, so all runs on the CPU; for a GPU, {cure}, or start a container with `--gpus all`"
    if driver < (toolkit[0], 0):
        return f"for CUDA {_text(driver)}, too old for Warp; {cure}"
    if not facts.gpus:
        hidden = facts.visible is not None
        cure = f"CUDA_VISIBLE_DEVICES is {facts.visible!r}, unset it" if hidden else "run `nvidia-smi`"
        return f"for CUDA {_text(driver)}, but it finds no GPU; {cure}"
    return f"for CUDA {_text(driver)}; Warp compiles {'PTX' if driver >= toolkit else 'code of the GPU, no PTX'}"


def _text(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
