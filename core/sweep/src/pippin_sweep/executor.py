"""Executors: plugins that run jobs somewhere else, in processes of this machine or on a cluster; and calls of the
functions of jobs, with what they print in a log.
"""

from __future__ import annotations

import abc
import faulthandler
import os
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, cast

import attrs
from pippin.catalog import Catalog
from pippin.config import overridden, structure_choice

JobStatus = Literal["returned", "raised", "lost", "node-lost", "timed-out", "cancelled"]

STARTED = "started"
"""File in the folder of a job that has started: it may have waited in a queue before."""


@attrs.frozen(kw_only=True)
class Job:
    """A call of a function of a module with plain data. Its results are files in its folder."""

    key: str
    """Name of the job, unique in its executor."""

    function: str
    """The function: `module:function`."""

    arguments: Mapping[str, Any]
    """The arguments by name; JSON can write them."""

    folder: Path
    """Folder of the job, which exists; what the job prints goes into `log.txt` there."""

    preload: Sequence[str] | None = ()
    """Modules that its process may have imported before; it may be a fork of one that has imported them, and Newton
    without backward kernels. None asks for a fresh process."""

    timeout: float | None = None
    """Longest time that the job may take after its start [s]; None means any time."""


@attrs.frozen(kw_only=True)
class JobResult:
    """The end of a job."""

    key: str
    """Name of the job."""

    status: JobStatus
    """"returned" or "raised" (the function did), "lost" (its process died), "node-lost" (its machine died or was taken
    away, without a fault of the job), "timed-out" or "cancelled"."""

    text: str = ""
    """The reason in one line; empty if the function returned."""


class Executor(Protocol):
    """Contract of an executor: a class in the group `pippin.executors`, called with its configuration.

    A job ends exactly once. An executor never runs a job twice by itself.
    """

    slots: int
    """Number of jobs that run at once at most."""

    keeps_processes: bool
    """Whether a process runs one job after the other: then one job in each process may prepare it for the others."""

    def submit(self, job: Job) -> None:
        """Start a job, or queue it if all slots are taken."""
        ...

    def wait(self, timeout: float) -> list[JobResult]:
        """Return the jobs that ended since the last call; none if nothing ends in time.

        Args:
            timeout: Longest wait [s].
        """
        ...

    def cancel(self, key: str) -> None:
        """End a job that has not ended: `wait` returns it as "cancelled". Nothing happens if it has ended.

        Args:
            key: Key of the job.
        """
        ...

    def close(self) -> None:
        """End all jobs, and return when no process of them is left."""
        ...


def make_executor(name: str, settings: Iterable[str] = ()) -> Executor:
    """Return the executor of a name.

    Args:
        name: A plugin in the group `pippin.executors`.
        settings: Values of its configuration, each `key=value`.

    Raises:
        PluginError: No such executor is installed, or it is broken.
        ConfigError: A setting is wrong.
    """
    table = overridden({"type": name}, settings)
    choice = structure_choice("executor", table)
    return cast(Executor, Catalog.installed().find("executor", choice.type).load()(choice.config))


def number_or_auto(instance: Any, attribute: attrs.Attribute[Any], value: int | str) -> None:
    """Refuse what is neither "auto" nor a number of at least 1."""
    if value != "auto" and (isinstance(value, str) or value < 1):
        raise ValueError(f"'{attribute.name}' must be 'auto' or at least 1, not {value!r}")


class ClusterExecutor(abc.ABC):
    """An executor of a cluster, which gets each job at once, and is asked time and again what has ended."""

    keeps_processes = False
    look_period: ClassVar[float]
    """Longest time between two looks at the jobs [s]."""

    def __init__(self) -> None:
        #: Each job that has not ended, with what the cluster knows it by.
        self._running: dict[str, tuple[Job, Any]] = {}
        self._dropped: list[Any] = []
        self._ended: list[JobResult] = []
        #: When this process first saw that a job had started: clocks of other machines do not count.
        self._starts: dict[str, float] = {}

    @abc.abstractmethod
    def _finished(self) -> list[JobResult]:
        """Return the running jobs that have ended by themselves; there are some that run."""

    @abc.abstractmethod
    def _end(self, known: Any) -> None:
        """Let the cluster end a job."""

    def wait(self, timeout: float) -> list[JobResult]:
        """Return the jobs that ended since the last call."""
        end = time.monotonic() + timeout
        while self._running and not self._look() and (left := end - time.monotonic()) > 0.0:
            self._pause(min(self.look_period, left))
        ended, self._ended = self._ended, []
        return ended

    def cancel(self, key: str) -> None:
        """End a job that has not ended."""
        if key in self._running:
            self._drop(key, "cancelled", "")

    def _pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def _look(self) -> bool:
        """Note the jobs that have ended, and end those that take too long; return whether there are any."""
        for result in self._finished():
            del self._running[result.key]
            self._ended.append(result)
        now = time.monotonic()
        for key, (job, _) in list(self._running.items()):
            if key not in self._starts and (job.folder / STARTED).exists():
                self._starts[key] = now
            if job.timeout is not None and now - self._starts.get(key, now) > job.timeout:
                self._drop(key, "timed-out", f"it took longer than {job.timeout:g} s")
        return bool(self._ended)

    def _drop(self, key: str, status: JobStatus, text: str) -> None:
        _, known = self._running.pop(key)
        self._end(known)
        self._dropped.append(known)
        self._ended.append(JobResult(key=key, status=status, text=text))


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
