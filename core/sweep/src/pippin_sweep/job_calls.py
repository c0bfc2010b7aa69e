"""Calls of the functions of jobs, with what they print in a log, and the times at which they started."""

from __future__ import annotations

import faulthandler
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from .executor import Job, JobStatus

STARTED = "started"
"""File in the folder of a job that has started: it may have waited in a queue before."""


class JobRunner:
    """Runs one job after the other in a worker."""

    def __init__(self) -> None:
        faulthandler.enable()  # a crash of native code leaves its stack in the job's log

    def run(self, job: Job) -> tuple[JobStatus, str]:
        """Run a job; see `call_job_logged`."""
        return call_job_logged(job)


class JobStartTimes:
    """Times at which this process first saw that a job had started: clocks of other machines do not count."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    def seconds(self, job: Job) -> float:
        """Return the time since a job was seen to have started [s]; 0 if it has not."""
        now = time.monotonic()
        if job.key not in self._seen and (job.folder / STARTED).exists():
            self._seen[job.key] = now
        return now - self._seen.get(job.key, now)


def call_job(job: Job) -> Any:
    """Call the function of a job."""
    module, _, name = job.function.partition(":")
    return getattr(import_module(module), name)(**job.arguments)


def call_job_alone(job: Job) -> None:
    """Call the function of a job in a process of its own, which notes its start and prints into `log.txt`."""
    (job.folder / STARTED).touch()
    faulthandler.enable()
    with _printing_to(job.folder / "log.txt"):
        try:
            call_job(job)
        except Exception:  # the function is not ours
            traceback.print_exc()
            raise


def call_job_logged(job: Job) -> tuple[JobStatus, str]:
    """Call the function of a job, which prints into `log.txt`; return "returned" or "raised", and the reason."""
    with _printing_to(job.folder / "log.txt"):
        try:
            call_job(job)
        except (Exception, KeyboardInterrupt, SystemExit) as error:  # the function is not ours
            traceback.print_exc()
            return "raised", " ".join(f"{type(error).__name__}: {error}".split())
    return "returned", ""


@contextmanager
def _printing_to(path: Path) -> Iterator[None]:
    """Send both standard streams to the end of a file, those of native code too."""
    kept = [os.dup(stream) for stream in (1, 2)]
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for stream, before in zip((1, 2), kept, strict=True):
            os.dup2(before, stream)
            os.close(before)
