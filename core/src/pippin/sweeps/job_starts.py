"""Start times of jobs on other machines, for their time limits."""

from __future__ import annotations

import time

from .executor import Job

STARTED = "started"
"""File in the folder of a job that has started: it may have waited in a queue before."""


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
