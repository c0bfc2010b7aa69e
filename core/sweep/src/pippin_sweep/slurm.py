"""The Slurm executor: jobs of a cluster, through submitit."""

from __future__ import annotations

import getpass
import signal
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pippin.extras import import_library

from .configs import SlurmExecutorConfig
from .executor import ClusterExecutor, Job, JobResult, JobStatus, call_job_alone

_END_LIMIT = 60.0
"""Longest wait for the end of cancelled jobs [s]."""

_LIVE = ("CONFIGURING", "COMPLETING", "PENDING", "REQUEUED", "RESIZING", "RUNNING", "STAGE_OUT", "STOPPED", "SUSPENDED")
"""States of jobs that may still leave a result, or a process."""

_TAKEN_AWAY = ("BOOT_FAIL", "NODE_FAIL", "PREEMPTED")
"""States of jobs whose node was lost, or given to others."""

_END_PERIOD = 0.5
"""Time between two questions for the end of cancelled jobs [s]."""


class SlurmExecutor(ClusterExecutor):
    """Runs each job as a job of a Slurm cluster. The folders must be on a file system that all nodes have.

    Raises:
        PluginError: The extra `slurm` is not installed.
    """

    look_period = 0.1

    def __init__(self, config: SlurmExecutorConfig) -> None:
        super().__init__()
        self.slots, self._is_local = config.processes, config.cluster == "local"
        self._submitit = import_library("submitit", "slurm")
        self._executor = self._submitit.AutoExecutor(folder=config.folder, cluster=config.cluster)
        self._executor.update_parameters(timeout_min=config.minutes, cpus_per_task=config.cpus)
        # A job ends once: Slurm runs those of a node that fails again by itself.
        self._executor.update_parameters(slurm_additional_parameters={"no-requeue": True})
        if config.gpus:
            self._executor.update_parameters(gpus_per_node=config.gpus)
        if config.partition is not None:
            self._executor.update_parameters(slurm_partition=config.partition)
        self._queue = None if self._is_local else SlurmQueue(config.look_period)

    def submit(self, job: Job) -> None:
        """Give a job to the cluster, which queues it."""
        with _interruptible():
            self._running[job.key] = job, self._executor.submit(call_job_alone, job)

    def close(self) -> None:
        """Cancel all jobs, and return when the cluster has ended them; if it is silent, after a minute."""
        for key in list(self._running):
            self._drop(key, "cancelled", "")
        end = time.monotonic() + _END_LIMIT
        if self._queue is not None:
            self._queue.wait_for([submitted.job_id for submitted in self._dropped], _END_LIMIT)
        while self._is_local and not all(submitted.done() for submitted in self._dropped) and time.monotonic() < end:
            time.sleep(self.look_period)
        self._dropped.clear()

    def _finished(self) -> list[JobResult]:
        states = [(job, submitted, self._state(submitted)) for job, submitted in self._running.values()]
        return [self._end_of(job, submitted, state) for job, submitted, state in states if state]

    def _state(self, submitted: Any) -> str:
        """Return "ended", or the state in which the cluster lost a job; empty if it runs or waits."""
        if self._queue is None:
            return ("ended" if submitted.paths.result_pickle.exists() else submitted.state) if submitted.done() else ""
        return "ended" if submitted.paths.result_pickle.exists() else self._queue.lost(submitted.job_id)

    def _end_of(self, job: Job, submitted: Any, state: str) -> JobResult:
        if state != "ended":
            status: JobStatus = "node-lost" if state in _TAKEN_AWAY else "lost"
            return JobResult(key=job.key, status=status, text=f"the cluster lost it, its state is {state}")
        if submitted.exception() is None:
            return JobResult(key=job.key, status="returned")
        return JobResult(key=job.key, status="raised", text=_last_line(job.folder / "log.txt"))

    def _end(self, known: Any) -> None:
        known.cancel(check=False)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let processes that are started in a `with` block end by SIGINT, by which submitit cancels them.

    A process in the background of a shell ignores this signal, and those that it starts inherit that.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


class SlurmQueue:
    """The states of the user's jobs, asked for again after a while: those that are no longer in the queue and left no
    result are lost.

    It asks `squeue`, which every cluster answers; `sacct` needs a database of accounts.

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
