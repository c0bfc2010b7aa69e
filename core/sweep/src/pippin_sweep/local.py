"""The local executor: processes of this machine, which stay for the next job."""

from __future__ import annotations

import faulthandler
import time
from collections import deque

import attrs
from pippin.workers import Worker, usable_cores, wait_any

from .configs import LocalExecutorConfig
from .executor import Job, JobResult, JobStatus, call_job_logged


@attrs.frozen(eq=False)
class _Run:
    job: Job
    worker: Worker
    started: float

    @property
    def deadline(self) -> float:
        """Latest end of the job [s]."""
        return self.started + (float("inf") if self.job.timeout is None else self.job.timeout)


class JobRunner:
    """Runs one job after the other in a worker."""

    def __init__(self) -> None:
        faulthandler.enable()  # a crash of native code leaves its stack in the job's log

    run = staticmethod(call_job_logged)


class LocalExecutor:
    """Runs jobs in processes of this machine. A process that is lost or takes too long is replaced by a new one."""

    keeps_processes = True

    def __init__(self, config: LocalExecutorConfig) -> None:
        self.slots = usable_cores("executor.processes") if config.processes == "auto" else config.processes
        self._waiting: deque[Job] = deque()
        self._idle: dict[bool, list[Worker]] = {True: [], False: []}
        self._running: list[_Run] = []
        self._ended: list[JobResult] = []

    def submit(self, job: Job) -> None:
        """Start a job, or queue it if all processes are busy."""
        self._waiting.append(job)
        self._start_waiting()

    def wait(self, timeout: float) -> list[JobResult]:
        """Return the jobs that ended since the last call."""
        if not self._ended and self._running:
            nearest = min(run.deadline for run in self._running) - time.monotonic()
            wait_any([run.worker for run in self._running], max(0.0, min(timeout, nearest)))
            for run in list(self._running):
                self._look(run)
            self._start_waiting()
        ended, self._ended = self._ended, []
        return ended

    def cancel(self, key: str) -> None:
        """End a job that has not ended."""
        for job in [job for job in self._waiting if job.key == key]:
            self._waiting.remove(job)
            self._ended.append(JobResult(key=key, status="cancelled"))
        for run in [run for run in self._running if run.job.key == key]:
            self._drop(run, "cancelled", "")
        self._start_waiting()

    def close(self) -> None:
        """End all processes."""
        self._waiting.clear()
        for worker in [*self._idle[True], *self._idle[False], *(run.worker for run in self._running)]:
            worker.close()
        self._idle = {True: [], False: []}
        self._running.clear()

    def _start_waiting(self) -> None:
        while self._waiting and len(self._running) < self.slots:
            job = self._waiting.popleft()
            idle = self._idle[job.preload is None]
            worker = idle.pop() if idle else Worker("worker", JobRunner, preload=job.preload)
            worker.start_call("run", job)
            self._running.append(_Run(job, worker, time.monotonic()))

    def _look(self, run: _Run) -> None:
        while wait_any([run.worker], 0.0):
            result = run.worker.take()
            if result is None:
                continue
            if result.is_lost:
                self._drop(run, "lost", str(result.error).removeprefix("worker: ").partition(";")[0])
                return
            self._running.remove(run)
            self._idle[run.job.preload is None].append(run.worker)
            status, text = result.value
            self._ended.append(JobResult(key=run.job.key, status=status, text=text))
            return
        if time.monotonic() >= run.deadline:
            self._drop(run, "timed-out", f"it took longer than {run.job.timeout:g} s")

    def _drop(self, run: _Run, status: JobStatus, text: str) -> None:
        self._running.remove(run)
        run.worker.close()
        self._ended.append(JobResult(key=run.job.key, status=status, text=text))
