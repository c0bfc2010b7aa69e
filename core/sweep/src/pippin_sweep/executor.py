"""Executors: plugins that run jobs somewhere else, in processes of this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import attrs
from pippin.catalog import Catalog
from pippin.config import overridden, structure_choice

JobStatus = Literal["returned", "raised", "lost", "timed-out", "cancelled"]


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
    """"returned" or "raised" (the function did), "lost" (its process died), "timed-out" or "cancelled"."""

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
