"""What engines may leave behind: processes, descriptors, memories, threads and files."""

import gc
import os
import secrets
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

MARK = "PIPPIN_TEST_LEFTOVERS"
"""Environment variable that tells processes of this one from those of other tests, also if nobody is left between."""

KINDS = ("pipe:", "socket:", "anon_inode:[eventfd]", "anon_inode:[pidfd]", "/memfd:pippin", "/dev/shm/")
"""Beginnings of the descriptors that engines, and what steps them, open."""


class Leftovers:
    """What there is beyond what was there when this object was made.

    Servers of processes, which stay by design, have to be there before.

    Args:
        monkeypatch: Pytest's: temporary files get a folder of their own, and processes a mark.
        folder: That folder.
    """

    def __init__(self, monkeypatch, folder):
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        monkeypatch.setenv(MARK, secrets.token_hex(8))
        self._before = holdings()

    def found(self):
        """Return what is left, as sorted text."""
        return sorted(holdings() - self._before)

    def after(self, patience=5.0):
        """Return what is left after a while: processes that were told to end take a moment."""
        deadline = time.monotonic() + patience
        while (found := self.found()) and time.monotonic() < deadline:
            gc.collect()
            time.sleep(0.05)
        return found


def holdings():
    """Return all that this process and those that it started hold of the kinds that engines need, one text for each."""
    threads = {f"thread {each.name}" for each in threading.enumerate()}
    return processes() | descriptors() | mappings() | files() | threads


def processes():
    """Return the processes below this one, those that have ended but nobody has asked for, and orphans."""
    parents, texts, mark = {}, {}, f"{MARK}={os.environ.get(MARK)}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):  # it has just ended, or is another user's
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            parents[int(folder.name)] = int(parent)
            texts[int(folder.name)] = f"process {folder.name}, state {'Z' if state == 'Z' else 'alive'}, {words[:120]}"
    return {text for pid, text in texts.items() if pid != os.getpid() and (is_below(pid, parents) or has(mark, pid))}


def is_below(pid, parents):
    """Return whether a process has this one above it."""
    while pid in parents:
        if pid == os.getpid():
            return True
        pid = parents[pid]
    return False


def has(mark, pid):
    """Return whether a process was started with a variable of the environment."""
    with suppress(OSError):
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return False


def engines():
    """Return the processes of engines below this one."""
    found = (text for text in processes() if "pippin_engines/shim.py" in text)
    return [int(text.split(",")[0].split()[1]) for text in found]


def descriptors():
    """Return the descriptors of this process."""
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # that of the folder itself
            target = os.readlink(link)
            if target.startswith(KINDS):
                found.add(f"descriptor {link.name}, {target}")
    return found


def mappings():
    """Return the shared memories that this process maps."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {f"mapping {line}" for line in lines if "/memfd:pippin" in line or "/dev/shm/" in line}


def files():
    """Return the named memories, and the files without a place of their own."""
    folders = {Path("/dev/shm"), Path(tempfile.gettempdir())}
    return {f"file {path}" for folder in folders for path in folder.glob("pippin*")}
