"""The room of scale: many variants of one file, on executors that plugins bring."""

from .executor import Ended, Executor, Job

__all__ = ["Ended", "Executor", "Job"]
