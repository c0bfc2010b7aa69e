"""The Ray executor: tasks of a Ray cluster that the user names."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pippin import ConfigError
from pippin.extras import import_library

from .configs import RayExecutorConfig
from .executor import STARTED, ClusterExecutor, Job, JobResult, JobStatus, call_job_logged

_CLOSE_TIMEOUT = 10.0
"""Longest wait for the end of cancelled jobs [s]."""

_LOST: dict[str, tuple[JobStatus, str]] = {
    "WorkerCrashedError": ("lost", "its process died"),
    "LocalRayletDiedError": ("node-lost", "its node died"),
    "NodeDiedError": ("node-lost", "its node died"),
    "OutOfMemoryError": ("lost", "Ray ended it, as its node ran out of memory"),
}


class RayExecutor(ClusterExecutor):
    """Runs each job as a task of a Ray cluster. The folders must be on a file system that all nodes have.

    The first use of `slots` or `submit` joins the cluster.
    """

    look_period = 0.05

    def __init__(self, config: RayExecutorConfig) -> None:
        super().__init__()
        self._config = config
        self._ray: Any = None
        self._slots, self._is_ours = 0, False

    @property
    def slots(self) -> int:
        """Number of jobs that run at once at most.

        Raises:
            ConfigError: No cluster is named or answers, it refuses the token, or it has no room for a job.
            PluginError: The extra `ray` is not installed.
        """
        self._join()
        return self._slots

    def submit(self, job: Job) -> None:
        """Give a job to the cluster, which queues it."""
        self._join()
        self._running[job.key] = job, self._task.remote(job, os.getcwd())

    def close(self) -> None:
        """End all jobs, and leave the cluster."""
        for key in list(self._running):
            self._drop(key, "cancelled", "")
        if self._dropped:
            self._ray.wait(self._dropped, num_returns=len(self._dropped), timeout=_CLOSE_TIMEOUT)
        self._dropped.clear()
        self._ended.clear()
        if self._is_ours:
            self._ray.shutdown()
        self._ray, self._is_ours = None, False

    def _join(self) -> None:
        if self._ray is not None:
            return
        address = self._config.address or os.environ.get("RAY_ADDRESS")
        # Else Ray makes a new environment for its workers if `uv run` started this program.
        os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        ray = import_library("ray", "ray")
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            _join(ray, address)
        try:
            slots = self._room(ray) if self._config.processes == "auto" else self._config.processes
        except ConfigError:
            if self._is_ours:
                ray.shutdown()
            raise
        calls = 1 if self._config.gpus else 0  # a process keeps the GPU that it saw first
        options = {"num_cpus": self._config.cpus, "num_gpus": self._config.gpus, "scheduling_strategy": "SPREAD"}
        self._task = ray.remote(max_calls=calls, max_retries=0, **options)(run_job)
        self._ray, self._slots = ray, slots

    def _room(self, ray: Any) -> int:
        found, fits = ray.cluster_resources(), list[float]()
        for key, name, count in (("cpus", "CPU", self._config.cpus), ("gpus", "GPU", self._config.gpus)):
            there = found.get(name, 0.0)
            if count > there:
                raise ConfigError(
                    f"executor.{key}: a job takes {count:g}, and the cluster has {there:g}; take fewer, or give"
                    " 'processes' if nodes are still to come"
                )
            fits += [there / count] if count else []
        return math.floor(min(fits, default=found.get("CPU", 1.0)))

    def _pause(self, seconds: float) -> None:
        self._ray.wait([ref for _, ref in self._running.values()], num_returns=1, timeout=seconds)

    def _finished(self) -> list[JobResult]:
        keys = {ref: key for key, (_, ref) in self._running.items()}
        done, _ = self._ray.wait(list(keys), num_returns=len(keys), timeout=0.0)
        ends = {keys[ref]: self._end_of(ref) for ref in done}
        return [JobResult(key=key, status=status, text=text) for key, (status, text) in ends.items()]

    def _end_of(self, ref: Any) -> tuple[JobStatus, str]:
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except errors.RayTaskError as error:
            return "raised", _line(error.cause if isinstance(error.cause, Exception) else error)
        except errors.RayError as error:
            return _LOST.get(type(error).__name__, ("lost", f"{type(error).__name__}: {_line(error)}"))

    def _end(self, known: Any) -> None:
        self._ray.cancel(known, force=True)


def run_job(job: Job, folder: str) -> tuple[JobStatus, str]:
    """Run a job on its node; return how it ended.

    Args:
        job: The job.
        folder: The folder in which the command was given.
    """
    missing = next((each for each in (job.folder, Path(folder)) if not each.is_dir()), None)
    if missing is not None:
        node = os.uname().nodename if hasattr(os, "uname") else "this node"
        return "raised", f"{missing} is not a folder of {node}; use a file system that all nodes have"
    os.chdir(folder)
    (job.folder / STARTED).touch()
    return call_job_logged(job)


def _join(ray: Any, address: str | None) -> None:
    if address is None:
        raise ConfigError(
            "executor.address: no Ray cluster is named; give its address or set RAY_ADDRESS, or use --executor local"
            " on one machine"
        )
    try:
        with _signals_kept():
            ray.init(address=address, log_to_driver=False, configure_logging=False)
    except Exception as error:  # Ray raises many kinds
        raise ConfigError(
            f"executor.address: cannot connect with a Ray cluster at {address!r} ({_line(error)}); start it, and"
            " give this process its token, as the page about Ray says"
        ) from error


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Put back the handlers of signals that Ray replaces: Ctrl-C ends a sweep in its own way."""
    is_main = threading.current_thread() is threading.main_thread()  # no other thread may set handlers
    kept = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM) if is_main}
    try:
        yield
    finally:
        for each, handler in kept.items():
            signal.signal(each, handler)


def _line(error: BaseException) -> str:
    text = " ".join(f"{error}".split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}…"
