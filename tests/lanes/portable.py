"""Portable: what Linux alone has is not there for Pippin's own code, as on Windows; or as on a Mac.

`PIPPIN_TEST_SYSTEM=darwin` makes a Mac of it. Pippin's modules get stand-ins of the standard library's modules that
lack names; other libraries are left as they are, since they have their own ways. Three more rules are those of
Windows: a file that is open is neither renamed nor removed, no name has characters that Windows reserves, and memory
that starts processes by a fork is refused.
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import importlib
import multiprocessing
import os
import sys
from types import FrameType, ModuleType
from typing import Any

SYSTEM = os.environ.get("PIPPIN_TEST_SYSTEM", "win32")
"""What `sys.platform` says: `win32` or `darwin`."""

_OURS = ("pippin", "lerobot_env_pippin")

_LINUX = {
    "os": [
        "eventfd",
        "eventfd_read",
        "eventfd_write",
        "memfd_create",
        "pidfd_open",
        "posix_fallocate",
        "sched_getaffinity",
        "sched_getparam",
        "sched_getscheduler",
        "sched_param",
        "sched_setaffinity",
        "sched_setscheduler",
        "SCHED_FIFO",
        "splice",
        "copy_file_range",
    ],
    "select": ["epoll"],
    "signal": ["pidfd_send_signal"],
    "time": ["CLOCK_BOOTTIME"],
}
"""Names that a Mac lacks, by module."""

_POSIX = {
    "os": [
        "chown",
        "confstr",
        "ctermid",
        "fork",
        "forkpty",
        "getegid",
        "geteuid",
        "getgid",
        "getloadavg",
        "getpgid",
        "getpriority",
        "getsid",
        "getuid",
        "killpg",
        "lchown",
        "login_tty",
        "mkfifo",
        "mknod",
        "nice",
        "openpty",
        "O_ASYNC",
        "O_CLOEXEC",
        "O_DIRECTORY",
        "O_NOFOLLOW",
        "O_NONBLOCK",
        "pread",
        "pwrite",
        "register_at_fork",
        "sched_yield",
        "sendfile",
        "set_blocking",
        "setsid",
        "sigtimedwait",
        "statvfs",
        "sync",
        "sysconf",
        "tcgetpgrp",
        "ttyname",
        "uname",
        "wait",
        "wait3",
        "wait4",
        "WIFEXITED",
        "WNOHANG",
    ],
    "select": ["poll"],
    "signal": [
        "alarm",
        "ITIMER_REAL",
        "pause",
        "pthread_kill",
        "pthread_sigmask",
        "setitimer",
        "sigwait",
        "SIGALRM",
        "SIGCHLD",
        "SIGCONT",
        "SIGHUP",
        "SIGKILL",
        "SIGPIPE",
        "SIGSTOP",
        "SIGTSTP",
        "SIGUSR1",
        "SIGUSR2",
        "SIGWINCH",
    ],
    "socket": ["AF_UNIX", "MSG_DONTWAIT", "recv_fds", "send_fds"],
    "time": ["clock_gettime", "clock_settime", "pthread_getcpuclockid", "tzset"],
}
"""Names that Windows lacks besides those."""

_MODULES = () if SYSTEM == "darwin" else ("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty")
"""Modules that Windows lacks."""

_PLACES = ("/proc", "/sys", "/dev/shm")
"""Folders that only Linux has."""

_RESERVED = frozenset('<>:"|?*')
"""Characters that no name of a file has on Windows."""


class _Stand(ModuleType):
    """A module without some of its names."""

    def __init__(self, module: ModuleType, missing: list[str], **others: Any) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update(others)
        self._module, self._missing = module, frozenset(missing)

    def __getattr__(self, name: str) -> Any:
        if name in self._missing:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on {SYSTEM}")
        return getattr(self._module, name)


def _stands() -> dict[str, ModuleType]:
    missing = {name: [*_LINUX.get(name, ()), *(() if SYSTEM == "darwin" else _POSIX.get(name, ()))] for name in _POSIX}
    others: dict[str, dict[str, Any]] = {"os": {} if SYSTEM == "darwin" else {"name": "nt"}}
    stands = {name: _Stand(importlib.import_module(name), missing[name], **others.get(name, {})) for name in missing}
    stands["sys"] = _Stand(sys, [], platform=SYSTEM)
    if SYSTEM == "win32":
        stands["multiprocessing"] = _Stand(multiprocessing, [], get_context=_context)
    stands["_signal"] = _Stand(importlib.import_module("_signal"), missing["signal"])
    return stands


def _context(method: str | None = None) -> Any:
    if method not in (None, "spawn"):
        raise ValueError(f"cannot find context for {method!r} on {SYSTEM}")
    return multiprocessing.get_context("spawn")


def _is_ours(name: object) -> bool:
    return isinstance(name, str) and name.startswith(_OURS) and name != __name__


def _hide_names() -> None:
    original, stands = builtins.__import__, _stands()

    def find(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level or not _is_ours((globals or {}).get("__name__")):
            return original(name, globals, locals, fromlist, level)
        if name.partition(".")[0] in _MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        module = original(name, globals, locals, fromlist, level)
        return stands.get(getattr(module, "__name__", ""), module)

    builtins.__import__ = find


def _is_asked_by_us() -> bool:
    """Tell whether Pippin's code, through the standard library alone, is behind this call."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if _is_ours(name):
            return True
        if not isinstance(name, str) or name.partition(".")[0] not in sys.stdlib_module_names or name == "__main__":
            return False
        frame = frame.f_back
    return False


def _text(path: object) -> str:
    try:
        return os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError:
        return ""


def _is_of_linux(path: object) -> bool:
    text = _text(path)
    return text.startswith(tuple(f"{place}/" for place in _PLACES)) or text in _PLACES


def _open_files() -> set[str]:
    found = set[str]()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue
    return found


def _judge(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _JUDGED or not _is_asked_by_us():
        return
    if _is_of_linux(arguments[0]):
        raise FileNotFoundError(errno.ENOENT, f"no such place on {SYSTEM}", _text(arguments[0]))
    if SYSTEM != "win32" or event in ("os.listdir", "os.scandir"):
        return
    path = _text(arguments[0])
    is_written = event != "open" or bool((arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR))
    names = [path, _text(arguments[1])] if event == "os.rename" else [path]
    if is_written and any(_RESERVED.intersection(name) for name in names):
        raise OSError(errno.EINVAL, "Windows has no such name of a file", path)
    if event in ("os.rename", "os.remove") and (taken := _open_files().intersection(map(os.path.realpath, names))):
        raise PermissionError(errno.EACCES, "Windows: this process has the file open", taken.pop())


_JUDGED = {"open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove"}


def _hide_places() -> None:
    stat = os.stat

    def look(path: Any, *arguments: Any, **options: Any) -> Any:
        if _is_of_linux(path) and _is_asked_by_us():
            raise FileNotFoundError(errno.ENOENT, f"no such place on {SYSTEM}", _text(path))
        return stat(path, *arguments, **options)

    os.stat = look
    sys.addaudithook(_judge)


def _name_the_c_library() -> None:
    library = ctypes.CDLL

    class _Library(library):  # type: ignore[misc, valid-type]
        """The C library has another name on Windows."""

        def __init__(self, name: Any = None, *arguments: Any, **options: Any) -> None:
            super().__init__(None if name == "ucrtbase" else name, *arguments, **options)

    ctypes.CDLL = _Library  # type: ignore[misc]


def start() -> None:
    """Take away what is of Linux, before Pippin is imported."""
    _hide_names()
    _hide_places()
    if SYSTEM == "win32":
        _name_the_c_library()


PATCHES: dict[str, Any] = {}

PART = (
    "core/record/tests/test_replay.py",
    "core/host/tests/studies/test_study.py",
    "core/host/tests/test_diagnosis.py",
)
