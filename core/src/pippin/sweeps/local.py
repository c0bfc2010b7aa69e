"""The local executor: processes of this machine, which stay for the next job."""

from __future__ import annotations

import time
from collections import deque
from typing import Literal

import attrs
from pippin.errors import SimulationError
from pippin.workers import WorkerProcess, usable_cores, wait_any

from .executor import Job, JobResult, JobStatus
from .job_calls import serve
from .settings import number_or_auto

__all__ = ["LocalExecutor"]


class LocalExecutor:
    """Runs jobs in processes of this machine. A process that is lost or takes too long is replaced by a new one."""

    keeps_processes = True

    @attrs.frozen(kw_only=True)
    class Config:
        """Settings of the local executor."""

        processes: int | Literal["auto"] = attrs.field(default="auto", validator=number_or_auto)
        """Number of processes; `auto` is the number of cores that this process may use, if the memory is enough."""

    def __init__(self, config: Config) -> None:
        self.slots = usable_cores("executor.processes") if config.processes == "auto" else config.processes
        self._waiting: deque[Job] = deque()
        self._idle: list[WorkerProcess] = []
        self._busy: dict[WorkerProcess, tuple[Job, float]] = {}
        self._ended: list[JobResult] = []

    def submit(self, job: Job) -> None:
        """Start a job, or queue it if all processes are busy."""
        self._waiting.append(job)
        self._start_waiting()

    def wait(self, timeout: float) -> list[JobResult]:
        """Return the jobs that ended since the last call."""
        if not self._ended and self._busy:
            now = time.monotonic()
            nearest = min(self._deadline(*entry) for entry in self._busy.values())
            for process in wait_any(list(self._busy), max(0.0, min(timeout, nearest - now))):
                self._finish(process)
            self._end_late()
            self._start_waiting()
        ended, self._ended = self._ended, []
        return ended

    def cancel(self, key: str) -> None:
        """End a job that has not ended."""
        for job in [job for job in self._waiting if job.key == key]:
            self._waiting.remove(job)
            self._ended.append(JobResult(key=key, status="cancelled"))
        for process in [process for process, (job, _) in self._busy.items() if job.key == key]:
            self._drop(process, "cancelled", "")
        self._start_waiting()

    def close(self) -> None:
        """End all processes."""
        self._waiting.clear()
        for process in [*self._idle, *self._busy]:
            process.close()
        self._idle.clear()
        self._busy.clear()

    def _start_waiting(self) -> None:
        while self._waiting and len(self._busy) < self.slots:
            job = self._waiting.popleft()
            process = self._idle.pop() if self._idle else WorkerProcess("worker", serve)
            process.send(job)
            self._busy[process] = job, time.monotonic()

    def _finish(self, process: WorkerProcess) -> None:
        """Note the end of the job of a process that sent a message or ended."""
        try:
            how, text = process.receive()
        except SimulationError as error:
            self._drop(process, "lost", str(error).removeprefix("worker: ").partition(";")[0])
            return
        job, _ = self._busy.pop(process)
        self._ended.append(JobResult(key=job.key, status=how, text=text))
        self._idle.append(process)

    def _end_late(self) -> None:
        now = time.monotonic()
        for process, (job, started) in list(self._busy.items()):
            if now >= self._deadline(job, started):
                self._drop(process, "timed-out", f"it took longer than {job.timeout:g} s")

    def _drop(self, process: WorkerProcess, how: JobStatus, text: str) -> None:
        job, _ = self._busy.pop(process)
        process.close()
        self._ended.append(JobResult(key=job.key, status=how, text=text))

    @staticmethod
    def _deadline(job: Job, started: float) -> float:
        return started + (float("inf") if job.timeout is None else job.timeout)
