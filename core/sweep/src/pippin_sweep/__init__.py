"""Sweeps: many variants of one file, on executors that plugins bring."""

from typing import TYPE_CHECKING

from pippin.late import late

from .executor import Executor, Job, JobResult
from .job_calls import call_job

if TYPE_CHECKING:
    from .driver import SweepResult
    from .executor_contract import executor_faults
    from .run_sweep import sweep

__all__ = [
    "Executor",
    "Job",
    "JobResult",
    "SweepResult",
    "call_job",
    "executor_faults",
    "sweep",
]

__getattr__ = late(__name__)
