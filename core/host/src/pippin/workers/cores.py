"""Numbers of processes for which this machine has cores and memory."""

from __future__ import annotations

import os

from pippin.errors import ConfigError
from pippin.files import physical_memory

_MEMORY_OF_PROCESS = 0.6 * 2**30
"""Memory that a process with Newton and a simulation takes [bytes]."""


def free_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usable_cores(where: str = "processes") -> int:
    """Return the number of cores that this process may use, or fewer if the memory is too small for as many processes.

    Args:
        where: Beginning of the error.

    Raises:
        ConfigError: The memory of this machine is unknown.
    """
    memory = physical_memory()
    if memory is None:
        raise ConfigError(f"{where}: the memory of this machine is unknown; give a number")
    return max(1, min(free_cores(), int(memory / _MEMORY_OF_PROCESS)))
