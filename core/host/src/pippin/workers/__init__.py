"""Workers: processes of this machine that work for this one, and how they are started, called, watched and ended."""

from .cores import free_cores, usable_cores
from .pool import PoolState, WorkerPool
from .process import RemoteError, WorkerProcess, wait_any
from .start import start_warm_process
from .worker import CallResult, Worker

__all__ = [
    "CallResult",
    "PoolState",
    "RemoteError",
    "Worker",
    "WorkerPool",
    "WorkerProcess",
    "free_cores",
    "start_warm_process",
    "usable_cores",
    "wait_any",
]
