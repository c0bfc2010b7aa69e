"""Processes of a session: those that a command has started, and when they have ended."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMMAND = 'from pippin.cli import main; main(prog_name="pippin")'
"""Python that runs `pippin` with the words behind it."""


def start_command(words: list[str], **streams: int) -> subprocess.Popen[str]:
    """Start `pippin` with some words as a session of its own, whose number is the process."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.Popen([sys.executable, "-c", COMMAND, *words], text=True, start_new_session=True, **streams)


def is_running(pid: int) -> bool:
    """Return whether a process has not ended; one that has may still wait for its parent."""
    try:
        return _stat_of(pid)[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


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
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, _, _, belongs, *_ = _stat_of(name)
        except (FileNotFoundError, ProcessLookupError):  # it has ended since the folder was listed
            continue
        if int(belongs) == session and state != "Z":
            found.append(int(name))
    return found


def _stat_of(pid: int | str) -> list[str]:
    """Return what Linux tells of a process after its name: state, parent, process group, session, and more."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def is_gone(session: int) -> bool:
    """Return whether all processes of a session end soon; that of Python's resource tracker ends after the driver."""
    end = time.monotonic() + 60.0
    while processes_of(session) and time.monotonic() < end:
        time.sleep(0.05)
    return not processes_of(session)


def workers_of(session: int) -> list[int]:
    """Return the workers of a driver, in the order of their start."""
    return [pid for pid in sorted(processes_of(session)) if _is_worker(pid)]


def _is_worker(pid: int) -> bool:
    """Return whether a process is a fresh one, or a fork of the fork server."""
    try:
        command, parent = _command_of(pid), _command_of(_stat_of(pid)[1])
    except (FileNotFoundError, ProcessLookupError):
        return False
    return b"spawn_main" in command or (b"forkserver" in command and b"forkserver" in parent)


def _command_of(pid: int | str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
