"""The Ray executor: tasks of a Ray cluster, given from a process of their own, which alone imports Ray."""

from __future__ import annotations

import queue
import time
from typing import Any, Literal

import attrs
from attrs.validators import ge

from .executor import Job, JobResult
from .ray_connection import RayConnection

__all__ = ["RayExecutor"]


def _number_or_auto(instance: Any, attribute: attrs.Attribute[Any], value: int | str) -> None:
    if value != "auto" and (isinstance(value, str) or value < 1):
        raise ValueError(f"'{attribute.name}' must be 'auto' or at least 1, not {value!r}")


class RayExecutor:
    """Runs each job as a task of a Ray cluster. The folders must be on a file system that all nodes have.

    The first use of `slots` or `submit` connects with the cluster, or starts one.
    """

    keeps_processes = False

    @attrs.frozen(kw_only=True)
    class Config:
        """Settings of the Ray executor."""

        address: str | None = None
        """Address of a cluster, `host:port` or `auto`; by default RAY_ADDRESS, else a new cluster of this machine."""

        processes: int | Literal["auto"] = attrs.field(default="auto", validator=_number_or_auto)
        """Largest number of jobs at once; `auto` is the number for which the cluster has cores and GPUs."""

        cpus: float = attrs.field(default=1.0, validator=ge(0.0))
        """Cores of a job."""

        gpus: float = attrs.field(default=0.0, validator=ge(0.0))
        """GPUs of a job; a fraction shares one."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._connection: RayConnection | None = None
        self._running: set[str] = set()

    @property
    def slots(self) -> int:
        """Number of jobs that run at once at most.

        Raises:
            ConfigError: No cluster answers at the address, it refuses the token, or it has no room for a job.
            PluginError: The extra `ray` is not installed.
            SimulationError: Ray cannot start on this machine.
        """
        return self._connected().slots

    def submit(self, job: Job) -> None:
        """Give a job to the cluster, which queues it.

        Raises:
            SimulationError: The connection with the cluster is lost.
        """
        plain = {**attrs.asdict(job), "folder": str(job.folder), "arguments": dict(job.arguments)}
        self._connected().send({"job": plain})
        self._running.add(job.key)

    def wait(self, timeout: float) -> list[JobResult]:
        """Return the jobs that ended since the last call."""
        ended, end = list[JobResult](), time.monotonic() + timeout
        while self._running:
            rest = 0.0 if ended else max(0.0, end - time.monotonic())
            found = self._read(rest)
            if not found:
                break
            ended += found
        return ended

    def cancel(self, key: str) -> None:
        """End a job that has not ended."""
        if key in self._running:
            self._connected().send({"cancel": key})

    def close(self) -> None:
        """End all jobs, and a cluster that was started for them. A cluster of others goes on."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._running.clear()

    def _connected(self) -> RayConnection:
        if self._connection is None:
            self._connection = RayConnection(attrs.asdict(self._config))
        return self._connection

    def _read(self, timeout: float) -> list[JobResult]:
        """Return the job that ended next, all if the driver ended, none if nothing happens in time."""
        try:
            message = self._connected().receive(timeout)
        except queue.Empty:
            return []
        if message is not None:
            self._running.discard(message["key"])
            return [JobResult(**message)]
        text = f"the connection with the cluster is lost: {self._connected().last_words}"
        lost = [JobResult(key=key, status="lost", text=text) for key in sorted(self._running)]
        self._running.clear()
        return lost
