"""Devices of a simulation, and Warp settings that must be made before kernels are loaded."""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import ConfigError

__all__ = ["WARP_LOCK", "find_device", "kind_of"]

if TYPE_CHECKING:
    import warp as wp

WARP_LOCK = threading.RLock()
"""Lock that Pippin holds whenever it uses Warp. While one thread records, Warp also records the launches of all
other threads, and it crashes if two threads replay CPU graphs at once. Separate processes need no lock."""

_DRIVERS = ("nvcuda.dll",) if os.name == "nt" else ("libcuda.so", "libcuda.so.1")
"""Libraries of NVIDIA's driver, one of which Warp loads."""

_DRIVER_FILE = Path("/dev/nvidiactl")
"""File that is there if the system has an NVIDIA driver: a library that cannot be loaded is news then."""

_STDERR = 2
"""Number of the standard error of a process."""


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


@contextmanager
def backward_kernels() -> Iterator[None]:
    """Compile the kernels that are made within for both directions, whatever the process leaves out elsewhere.

    A law whose slope is asked needs them, such as a network's: without them the slope is zero, and Warp only warns. A
    Warp module keeps this setting from the first kernel on, so whoever makes kernels of a shared module goes in here.
    """
    import warp as wp

    before, wp.config.enable_backward = wp.config.enable_backward, True
    try:
        yield
    finally:
        wp.config.enable_backward = before


def start_newton(*, requires_grad: bool, will_fork: bool = False) -> None:
    """Import Newton and Warp, which takes seconds; kernels are compiled with or without gradients.

    Warp is started, except in a process that will be forked: it loads the driver of a GPU, which a fork breaks.
    """
    with no_garbage_collection():  # it would walk all that is being imported, again and again: a third of the time
        if requires_grad:
            require_backward_kernels()
        else:
            leave_out_backward_kernels()
        if not will_fork:
            start_warp()
        import newton  # noqa: F401


def find_device(name: str) -> wp.Device:
    """Return the device that `simulation.device` names, and start Warp without its greeting.

    Args:
        name: `cpu`, `cuda:0` and so on; `auto` is the first CUDA device, or the CPU.

    Raises:
        ConfigError: This machine has no such device.
    """
    import warp as wp

    start_warp()
    if name == "auto":
        return wp.get_device("cuda:0" if wp.is_cuda_available() else "cpu")
    present = [device.alias for device in wp.get_devices()]
    if name not in present and not (name == "cuda" and wp.is_cuda_available()):
        why = "" if not name.startswith("cuda") or has_driver() else "; NVIDIA's driver is not installed"
        raise ConfigError(
            f"simulation.device: no device {name!r} on this machine, which has {', '.join(present)}{why}; use 'auto'"
        )
    return wp.get_device(name)


def kind_of(device: wp.Device) -> str:
    """Return the kind of a device, "cpu" or "cuda", for what Newton, Warp or a driver has for one of them alone.

    Args:
        device: The device of a model or of an array.
    """
    return "cuda" if device.is_cuda else "cpu"


def shares_memory(device: wp.Device) -> bool:
    """Tell whether the host reads and writes the memory of a device in place, and waits for nothing.

    Everywhere else, each access is a copy. Warp is asked, so that a lane of the tests can take shared memory away.
    """
    return not device.is_cuda and _host_shares_memory()


@functools.cache
def _host_shares_memory() -> bool:
    import warp as wp

    number = wp.zeros(1, dtype=int, device="cpu")
    return number.numpy().ctypes.data == number.ptr


def records_branches(device: wp.Device) -> bool:
    """Tell whether a graph of a device may have branches, so that what a replay skips costs nothing."""
    import warp as wp

    return not device.is_cuda or wp.is_conditional_graph_supported()


def allocates_in_branches(device: wp.Device) -> bool:
    """Tell whether a branch of a graph may allocate memory, as a solver does that takes over a change of the model."""
    return not device.is_cuda


@functools.cache
def start_warp() -> None:
    """Start Warp without its greeting, and set its messages to warnings, once in a process.

    A verbosity other than Warp's own default stays, and so does one that the user chooses later.
    """
    import warp as wp

    if wp.config.log_level != wp.LOG_INFO:
        wp.init()
        return
    wp.config.log_level = wp.LOG_WARNING
    with nullcontext() if has_driver() or _DRIVER_FILE.exists() else _without_warning_of_driver():
        wp.init()


@functools.cache
def has_driver() -> bool:
    """Tell whether NVIDIA's driver can be loaded."""
    for name in _DRIVERS:
        with suppress(OSError):
            ctypes.CDLL(name)
            return True
    return False


@contextmanager
def _without_warning_of_driver() -> Iterator[None]:
    """Leave out what native code says on standard error about the missing driver of a GPU; print the rest at the end.

    Nothing of Warp chooses what its native code prints.
    """
    try:
        kept = os.dup(_STDERR)
    except OSError:  # the process has no standard error
        yield
        return
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), _STDERR)
        try:
            yield
        finally:
            os.dup2(kept, _STDERR)
            said.seek(0)
            os.write(kept, b"".join(line for line in said if not line.startswith(b"Warp CUDA warning: Could not find")))
            os.close(kept)


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
