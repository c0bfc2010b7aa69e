"""Workers: processes of this machine that work for this one, and how they are started, called, watched and ended."""

from .cores import usable_cores
from .pool import WorkerPool as WorkerPool  # for the core
from .process import WorkerProcess, wait_any
from .start import start_warm_process
from .worker import CallResult, Worker

__all__ = ["CallResult", "Worker", "WorkerProcess", "start_warm_process", "usable_cores", "wait_any"]
