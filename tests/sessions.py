"""Processes of a session: those that a command has started, when they have ended, and what they leave."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pippin
from pippin.array_files import read_arrays
from pippin.recording import Recording

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


def open_all(folder):
    """Open all files of a run folder, each as its reader does, and return their names."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        assert path.suffix not in (".rows", ".part", ".tmp"), path
        assert path.stat().st_size or path.suffix in (".txt", ".lock"), path
        if path.suffix == ".toml":
            tomllib.loads(path.read_text("utf-8"))
        elif path.suffix == ".json":
            json.loads(path.read_text("utf-8"))
        elif path.suffix == ".csv":
            rows = list(csv.reader(path.read_text("utf-8").splitlines()))
            assert len({len(row) for row in rows}) == 1, path
        elif path.suffix == ".html":
            assert path.read_text("utf-8").rstrip().endswith("</html>"), path
        elif path.parent.name == "iterations" or path.name == "optimised.npz":
            read_arrays(path)
        elif path.suffix in (".npz", ".h5", ".mcap"):
            with Recording(path) as recording:
                values = {name: recording[name].values[:] for name in recording}
            # What a motor does not tell is NaN.
            assert all(np.isfinite(each).all() for name, each in values.items() if not name.startswith("robot/"))
        if path.name == "config.toml":
            pippin.load(path)
    return {path.name for path in files}


class Command:
    """A command in a session of its own, as its script starts it."""

    def __init__(self, words, folder, out="--out"):
        code = "import pippin_start; pippin_start.main()"
        self.out, options = folder / "out", [out, folder / "out"] if out else []
        self.log = (folder / "log.txt").open("w+")
        arguments = [sys.executable, "-c", code, *words, *options]
        self.process = subprocess.Popen(
            list(map(str, arguments)), stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True, cwd=folder
        )

    def text(self):
        return Path(self.log.name).read_text()

    def until(self, what):
        def is_so():
            assert self.process.poll() is None, self.text()
            return what()

        try:
            return wait_for(is_so, 120.0)
        except AssertionError as error:
            self.process.poll() is None and os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.log.close()
            raise AssertionError(self.text()) from error

    def end(self, name, *, whole=False):
        """Send a signal, to all processes or to the first one, and return exit code and text."""
        (os.killpg if whole else os.kill)(self.process.pid, getattr(signal, name))
        try:
            code = self.process.wait(90.0)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
            self.log.close()
        assert is_gone(self.process.pid)
        return code, self.text()
