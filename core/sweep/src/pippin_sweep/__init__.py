"""Sweeps: many variants of one file, on executors that plugins bring."""

from .executor import Executor, Job, JobResult
from .job_calls import call_job

__all__ = ["Executor", "Job", "JobResult", "call_job"]
