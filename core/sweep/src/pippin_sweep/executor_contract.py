"""A check of executors: real jobs that return, raise, die, hang and are cancelled."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pippin_sweep import Executor, Job, JobResult

_ENDS = {"returns": "returned", "raises": "raised", "dies": "lost", "hangs": "timed-out", "is-cancelled": "cancelled"}
"""The jobs of the check, with the end that each must have."""

_FUNCTIONS = {"returns": "say", "raises": "fail", "dies": "die", "hangs": "hang", "is-cancelled": "hang"}

_LEFT_LIMIT = 5.0
"""Time in which a cluster ends the processes of jobs after `close` [s]."""

_LIMIT = 2.0
"""Time limit of the job that hangs [s]."""


def executor_faults(make: Callable[[], Executor], folder: Path, timeout: float = 120.0) -> list[str]:
    """Return a line for each promise of `pippin_sweep.Executor` that an executor breaks; none if it is right.

    Args:
        make: Returns the executor, with at least one slot.
        folder: An empty folder, on the file system that jobs see.
        timeout: Longest time for all jobs [s].
    """
    jobs = [_job(key, folder) for key in _ENDS]
    executor = make()
    try:
        ended = _run(executor, jobs, timeout)
    finally:
        executor.close()
    return [*_wrong_ends(ended), *_wrong_files(folder), *_left(folder)]


def say(*, folder: str) -> None:
    """Print something, and leave a file."""
    _begin(folder)
    print("said")
    Path(folder, "result").write_text("done", encoding="utf-8")


def fail(*, folder: str) -> None:
    """Raise an exception."""
    _begin(folder)
    raise ValueError("no such gain")


def die(*, folder: str) -> None:
    """End the process at once."""
    _begin(folder)
    os.kill(os.getpid(), signal.SIGKILL if os.name == "posix" else signal.SIGTERM)


def hang(*, folder: str) -> None:
    """Do nothing for an hour."""
    _begin(folder)
    time.sleep(3600.0)


def _begin(folder: str) -> None:
    Path(folder, "pid").write_text(str(os.getpid()), encoding="utf-8")


def _job(key: str, folder: Path) -> Job:
    own = folder / key
    own.mkdir(parents=True)
    limit = _LIMIT if key == "hangs" else None
    function = f"{__name__}:{_FUNCTIONS[key]}"
    return Job(key=key, function=function, arguments={"folder": str(own)}, folder=own, timeout=limit)


def _run(executor: Executor, jobs: list[Job], timeout: float) -> list[JobResult]:
    end, ended = time.monotonic() + timeout, list[JobResult]()
    for job in jobs:
        executor.submit(job)
    while len(ended) < len(jobs) and time.monotonic() < end:
        ended += executor.wait(0.2)
        for job in jobs:
            if job.key == "is-cancelled" and (job.folder / "pid").exists():
                executor.cancel(job.key)
    return ended + executor.wait(0.2)


def _wrong_ends(ended: list[JobResult]) -> Iterator[str]:
    for key, expected in _ENDS.items():
        found = [each.status for each in ended if each.key == key]
        if found != [expected]:
            yield f"the job that {key}: expected one end, {expected!r}, got {found}"
    for each in ended:
        if "\n" in each.text or bool(each.text) == (each.status in ("returned", "cancelled")):
            yield f"the job that {each.key}: expected a reason in one line unless it returned, got {each.text!r}"
        if each.status == "raised" and "ValueError: no such gain" not in each.text:
            yield f"the job that {each.key}: its reason {each.text!r} does not name the exception"


def _wrong_files(folder: Path) -> Iterator[str]:
    log = folder / "returns" / "log.txt"
    if not (folder / "returns" / "result").exists():
        yield "the job that returns: its file is missing; call the function where the folder is seen"
    if not log.exists() or log.read_text(encoding="utf-8") != "said\n":
        yield "the job that returns: what it printed is not in log.txt"


def _left(folder: Path) -> Iterator[str]:
    end = time.monotonic() + _LEFT_LIMIT
    for path in folder.glob("*/pid"):
        pid = int(path.read_text(encoding="utf-8"))
        while _is_there(pid) and time.monotonic() < end:
            time.sleep(0.05)
        if _is_there(pid):
            yield f"the job that {path.parent.name}: its process is left after close"


def _is_there(pid: int) -> bool:
    if os.name != "posix":  # Windows takes the signal 0 for Ctrl-C
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
