"""Workers: processes of this machine that work for this one, and how they are started, called, watched and ended."""

from .modules import function_named
from .pool import WorkerPool
from .process import CallResult, Worker, WorkerProcess, wait_any
from .start import leave_stops_to_caller, start_warm_process, usable_cores

__all__ = [
    "CallResult",
    "Worker",
    "WorkerPool",
    "WorkerProcess",
    "function_named",
    "leave_stops_to_caller",
    "start_warm_process",
    "usable_cores",
    "wait_any",
]
