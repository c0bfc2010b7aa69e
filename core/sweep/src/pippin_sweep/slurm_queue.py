"""The queue of a Slurm cluster: jobs that are no longer in it and left no result are lost.

It asks `squeue`, which every cluster answers; `sacct` needs a database of accounts.
"""

from __future__ import annotations

import getpass
import subprocess
import time
from collections.abc import Collection

_LIVE = ("CONFIGURING", "COMPLETING", "PENDING", "REQUEUED", "RESIZING", "RUNNING", "STAGE_OUT", "STOPPED", "SUSPENDED")
"""States of jobs that may still leave a result, or a process."""

_END_PERIOD = 0.5
"""Time between two questions for the end of cancelled jobs [s]."""


class SlurmQueue:
    """The states of the user's jobs, asked for again after a while.

    Args:
        period: Time between two questions [s].
    """

    def __init__(self, period: float) -> None:
        self._period, self._asked = period, float("-inf")
        self._states: dict[str, str] | None = None
        self._gone: dict[str, int] = {}

    def lost(self, job: str) -> str:
        """Return the state of a job that ended without a result; empty if it lives, or a result may still appear.

        Two questions in turn find it ended: a shared file system may show a result later.
        """
        if time.monotonic() - self._asked > self._period:
            self._states, self._asked = _states(), time.monotonic()
            for each in self._gone:
                self._gone[each] += 1
        if self._states is None or self._states.get(job) in _LIVE:
            self._gone.pop(job, None)
            return ""
        if self._gone.setdefault(job, 0) < 1:
            return ""
        return self._states.get(job, "UNKNOWN")

    def wait_for(self, jobs: Collection[str], limit: float) -> None:
        """Return when none of some jobs lives, or after a limit [s]."""
        end = time.monotonic() + limit
        while jobs and time.monotonic() < end:
            states = _states()
            if states is not None and not any(states.get(job) in _LIVE for job in jobs):
                return
            time.sleep(_END_PERIOD)


def _states() -> dict[str, str] | None:
    """Return the state of each job of the user; None if the cluster does not answer, as while it starts anew."""
    command = ["squeue", "--noheader", "--states=all", f"--user={getpass.getuser()}", "--format=%i %T"]
    try:
        answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60.0)
    except (OSError, subprocess.SubprocessError):
        return None
    return dict(line.split(maxsplit=1) for line in answer.stdout.splitlines())
