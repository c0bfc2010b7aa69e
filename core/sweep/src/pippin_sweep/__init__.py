"""Sweeps: many variants of one file, on executors that plugins bring."""

from typing import TYPE_CHECKING

from pippin.late import late

from .executor import Executor, Job, JobResult, call_job

if TYPE_CHECKING:
    from .driver import SweepResult, sweep
    from .executor_contract import executor_faults

__all__ = ["Executor", "Job", "JobResult", "SweepResult", "call_job", "executor_faults", "sweep"]

__getattr__ = late(__name__)
