"""Processes of a session: those that a command has started, and when they have ended."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_for(what: Callable[[], Any], seconds: float = 300.0) -> Any:
    """Return what a function gives as soon as it is true."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def processes_of(session: int) -> list[int]:
    """Return the processes of a session that are not zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, belongs, *_ = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(belongs) == session and state != "Z":
            found.append(int(stat.parent.name))
    return found


def is_gone(session: int) -> bool:
    """Return whether all processes of a session end soon; that of Python's resource tracker ends after the driver."""
    end = time.monotonic() + 10.0
    while processes_of(session) and time.monotonic() < end:
        time.sleep(0.05)
    return not processes_of(session)


def workers_of(session: int) -> list[int]:
    """Return the workers of a driver, in the order of their start."""
    return [pid for pid in sorted(processes_of(session)) if _is_worker(pid)]


def _is_worker(pid: int) -> bool:
    """Return whether a process is a fresh one, or a fork of the fork server."""
    command = Path(f"/proc/{pid}/cmdline")
    parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    return b"spawn_main" in command.read_bytes() or (
        b"forkserver" in command.read_bytes() and b"forkserver" in Path(f"/proc/{parent}/cmdline").read_bytes()
    )
