"""Devices of a simulation, and Warp settings that must be made before kernels are loaded."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from .errors import ConfigError

if TYPE_CHECKING:
    import warp as wp


WARP_LOCK = threading.RLock()
"""Lock that Pippin holds whenever it uses Warp. While one thread records, Warp also records the launches of all
other threads, and it crashes if two threads replay CPU graphs at once. Separate processes need no lock."""


def leave_out_backward_kernels() -> None:
    """Compile forward kernels only, which halves a cold start. It has no effect once newton is imported.

    Warp reads this setting when a module is imported, so call this before `import newton`.
    """
    import warp as wp

    if "newton" not in sys.modules:
        wp.config.enable_backward = False


def require_backward_kernels() -> None:
    """Compile backward kernels too, of all modules that are imported from here on.

    Raises:
        ConfigError: Newton was imported without backward kernels. Warp would only warn, and give zero gradients.
    """
    import warp as wp

    wp.config.enable_backward = True
    import newton

    if not wp.get_module_options(newton.eval_fk.__module__)["enable_backward"]:
        raise ConfigError(
            "simulation.requires_grad: Newton was imported without its backward kernels, for an earlier simulation of"
            " this process say; `import newton` before the first simulation, or use another process"
        )


def import_hot_modules(*, requires_grad: bool) -> None:
    """Import Newton, Warp and what uses them, which takes seconds; kernels are compiled with or without gradients."""
    with no_garbage_collection():  # it would walk all that is being imported, again and again: a third of the time
        if requires_grad:
            require_backward_kernels()
        else:
            leave_out_backward_kernels()
        import_module("pippin.assembly.built")  # the one door to the modules that import Newton


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
    """Suppress Warp's messages below warnings."""
    import warp as wp

    log_level, wp.config.log_level = wp.config.log_level, wp.LOG_WARNING
    try:
        yield
    finally:
        wp.config.log_level = log_level


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Suspend Python's garbage collector while the block runs."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
