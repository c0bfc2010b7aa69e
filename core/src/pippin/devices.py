"""Where a simulation runs, and what Warp must know before it loads a kernel."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .errors import ConfigError

if TYPE_CHECKING:
    import warp as wp

__all__ = [
    "WARP_LOCK",
    "find_device",
    "kind_of",
    "leave_out_backward_kernels",
    "require_backward_kernels",
    "warp_quiet",
]

WARP_LOCK = threading.RLock()
"""Held whenever Pippin uses Warp. While one thread records, Warp would record what any other thread launches; and two
threads that replay CPU graphs at once crash it. Processes need no such care."""


def leave_out_backward_kernels() -> None:
    """Compile forward kernels only, which halves a cold start. Has no effect on what is imported already.

    Warp fixes this for a module when the module is imported, so it must run before newton is.
    """
    import warp as wp

    if "newton" not in sys.modules:
        wp.config.enable_backward = False


def require_backward_kernels() -> None:
    """Compile backward kernels too, of everything that is imported from here on.

    Raises:
        ConfigError: Newton was imported without them. Warp would give zero gradients, with a warning in its log.
    """
    import warp as wp

    wp.config.enable_backward = True
    import newton

    if not wp.get_module_options(newton.eval_fk.__module__)["enable_backward"]:
        raise ConfigError(
            "simulation.requires_grad: Newton was imported without its backward kernels, for an earlier simulation of"
            " this process say; `import newton` before the first simulation, or use another process"
        )


def find_device(name: str) -> wp.Device:
    """Return the device that `simulation.device` names; `auto` is the first CUDA device, or the CPU.

    Raises:
        ConfigError: There is no such device on this machine.
    """
    import warp as wp

    wp.init()
    if name == "auto":
        return wp.get_device("cuda:0" if wp.is_cuda_available() else "cpu")
    present = [device.alias for device in wp.get_devices()]
    if name not in present and not (name == "cuda" and wp.is_cuda_available()):
        raise ConfigError(
            f"simulation.device: no device {name!r} on this machine, which has {', '.join(present)}; use 'auto'"
        )
    return wp.get_device(name)


def kind_of(device: wp.Device) -> str:
    """Return the kind of a device: "cpu" or "cuda"."""
    return "cuda" if device.is_cuda else "cpu"


@contextmanager
def warp_quiet() -> Iterator[None]:
    """Let Warp say nothing below a warning."""
    import warp as wp

    log_level, wp.config.log_level = wp.config.log_level, wp.LOG_WARNING
    try:
        yield
    finally:
        wp.config.log_level = log_level
