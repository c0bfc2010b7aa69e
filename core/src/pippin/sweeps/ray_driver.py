"""The driver of the Ray executor: a process that gives jobs to a cluster and tells their ends, a line of JSON for each.

It ends with its standard input, so also if the process that started it is killed. Ray prints into its log.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from pippin.errors import PippinError
from pippin.workers.process import end_session

from .executor import Job, JobStatus
from .job_calls import call_job_logged
from .job_starts import STARTED, JobStartTimes
from .ray_cluster import RayCluster, line

__all__ = ["main", "run_job"]

_LOOK_PERIOD = 0.05
"""Longest time between two looks at the jobs [s]."""

_END_LIMIT = 10.0
"""Longest wait for the end of cancelled jobs [s]."""

_LOST = {
    "WorkerCrashedError": "its process died",
    "LocalRayletDiedError": "its node died",
    "NodeDiedError": "its node died",
    "OutOfMemoryError": "Ray ended it, as its node ran out of memory",
}


def main() -> None:
    """Read the settings, then jobs, until standard input ends."""
    messages, out = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)  # Ray's processes inherit the three streams, and outlive this one for a while
    os.dup2(2, 1)
    settings = messages.readline()
    if not settings:
        return
    driver = _Driver(json.loads(settings), messages, out)
    try:
        driver.run()
    except PippinError as error:
        _tell(out, {"error": type(error).__name__, "text": str(error)})
    finally:
        driver.close()
        shutil.rmtree(driver.folder, ignore_errors=True)
        if os.name == "posix":
            end_session(os.getpid())  # Ray's processes: two agents, and workers that begin, would live on for a minute
            os.killpg(0, signal.SIGKILL)


class _Driver:
    """The jobs of a cluster, and the messages about them."""

    def __init__(self, settings: Mapping[str, Any], stream: IO[str], out: IO[str]) -> None:
        self._settings, self._stream, self._out = settings, stream, out
        #: Folder for the files of a cluster of ours.
        self.folder: str = settings["folder"]
        self._cluster: RayCluster | None = None
        self._running: dict[str, tuple[Job, Any]] = {}
        self._dropped: list[Any] = []
        self._starts = JobStartTimes()
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def run(self) -> None:
        """Connect with the cluster, and run the jobs that come.

        Raises:
            PippinError: There is no cluster.
        """
        sys.path[:] = self._settings["path"]  # workers get it from here
        self._cluster = RayCluster(self._settings["address"], self.folder)
        self._ray = self._cluster.ray
        cpus, gpus, processes = (self._settings[name] for name in ("cpus", "gpus", "processes"))
        options = {"num_cpus": cpus, "num_gpus": gpus, "max_retries": 0, "scheduling_strategy": "SPREAD"}
        calls = 1 if gpus else 0  # a process keeps the GPU that it saw first
        self._task = self._ray.remote(max_calls=calls, **options)(run_job)
        slots = self._cluster.slots(cpus, gpus) if processes == "auto" else processes
        threading.Thread(target=self._listen, daemon=True).start()
        _tell(self._out, {"slots": slots})
        while self._take():
            self._look()

    def close(self) -> None:
        """End all jobs, and leave the cluster; one of ours ends with that."""
        if self._cluster is None:
            return
        for _, ref in self._running.values():
            self._ray.cancel(ref, force=True)
        left = [*self._dropped, *(ref for _, ref in self._running.values())]
        if left:
            self._ray.wait(left, num_returns=len(left), timeout=_END_LIMIT)
        self._ray.shutdown()

    def _listen(self) -> None:
        for message in self._stream:
            self._messages.put(json.loads(message))
        self._messages.put(None)

    def _take(self) -> bool:
        """Follow all messages that came; wait for one if no job runs. Return whether there may be more."""
        is_idle = not self._running
        while is_idle or not self._messages.empty():
            message = self._messages.get()
            if message is None:
                return False
            if "job" in message:
                self._submit(Job(**{**message["job"], "folder": Path(message["job"]["folder"])}))
            elif message["cancel"] in self._running:
                self._drop(message["cancel"], "cancelled", "")
            is_idle = not self._running
        return True

    def _submit(self, job: Job) -> None:
        plain = {"key": job.key, "function": job.function, "arguments": job.arguments, "folder": str(job.folder)}
        self._running[job.key] = job, self._task.remote(plain, os.getcwd())

    def _look(self) -> None:
        """Tell the jobs that ended, and end those that take too long."""
        keys = {ref: key for key, (_, ref) in self._running.items()}
        for ref in self._ray.wait(list(keys), num_returns=1, timeout=_LOOK_PERIOD)[0] if keys else ():
            self._running.pop(keys[ref])
            how, text = self._end_of(ref)
            self._tell_end(keys[ref], how, text)
        for key, (job, _) in list(self._running.items()):
            if job.timeout is not None and self._starts.seconds(job) > job.timeout:
                self._drop(key, "timed-out", f"it took longer than {job.timeout:g} s")

    def _end_of(self, ref: Any) -> tuple[JobStatus, str]:
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except errors.RayTaskError as error:
            return "raised", line(error.cause if isinstance(error.cause, Exception) else error)
        except errors.RayError as error:
            return "lost", _LOST.get(type(error).__name__, f"{type(error).__name__}: {line(error)}")

    def _drop(self, key: str, how: JobStatus, text: str) -> None:
        _, ref = self._running.pop(key)
        self._ray.cancel(ref, force=True)
        self._dropped.append(ref)
        self._tell_end(key, how, text)

    def _tell_end(self, key: str, how: JobStatus, text: str) -> None:
        _tell(self._out, {"key": key, "how": how, "text": text})


def run_job(job: dict[str, Any], folder: str) -> tuple[str, str]:
    """Run a job in a process of a node; return its end, "returned" or "raised", and the reason.

    Args:
        job: The fields of the job.
        folder: The folder in which the command was given.
    """
    missing = next((each for each in (job["folder"], folder) if not Path(each).is_dir()), None)
    if missing is not None:
        node = os.uname().nodename if hasattr(os, "uname") else "this node"
        return "raised", f"{missing} is no folder of {node}; use a file system that all nodes have"
    os.chdir(folder)
    Path(job["folder"], STARTED).touch()
    return call_job_logged(Job(**{**job, "folder": Path(job["folder"])}))


def _tell(out: IO[str], message: Mapping[str, Any]) -> None:
    out.write(f"{json.dumps(message)}\n")
    out.flush()


if __name__ == "__main__":
    main()
