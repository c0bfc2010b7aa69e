"""The start of processes: fresh interpreters, or forks of a warm process that has imported Newton.

The warm process is Python's fork server. It has imported modules and done nothing else: it has neither initialised CUDA
nor started threads, and a fork would break both.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver, reduction
from multiprocessing.process import BaseProcess
from typing import Any

from pippin.errors import ConfigError
from pippin.files import physical_memory

_METHOD = "PIPPIN_WORKERS"
"""Environment variable: with `spawn`, every worker is a fresh process."""

_FIRST, _LAST = "pippin.warm", "pippin.workers.forkable"
"""Modules that the warm process imports before and after those that its first worker names."""

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "PXR_WORK_THREAD_LIMIT": "1", "TF_ENV_SETTING_ALERTS_ENABLED": "0"}
"""Environment of the warm process: NumPy and OpenUSD start no threads."""

Surroundings = tuple[dict[str, str], "_Stream"]
"""Environment and standard error, which a fork of the warm process takes over from its caller."""


_MEMORY_OF_PROCESS = 0.6 * 2**30
"""Memory that a process with Newton and a simulation takes [bytes]."""


class _Stream:
    """A stream of the caller, by its descriptor, which is duplicated when the stream is sent to a new process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __reduce__(self) -> tuple[Callable[[Any], _Stream], tuple[Any]]:
        return _duplicated, (reduction.DupFd(self.descriptor),)


def _duplicated(descriptor: Any) -> _Stream:
    return _Stream(descriptor.detach())


def start_process(
    function: Callable[..., None],
    arguments: tuple[Any, ...],
    *,
    preload: Sequence[str] | None,
    environment: Mapping[str, str],
) -> BaseProcess:
    """Start a process.

    Args:
        function: The function that runs there. It gets surroundings for `take_over`, then the arguments.
        arguments: Plain data, connections and sockets.
        preload: Modules that the warm process imports too, if it has not started; None starts a fresh process.
        environment: Variables to set there if this process does not have them.
    """
    added = {name: value for name, value in environment.items() if name not in os.environ}
    with _undivided():
        return _started(function, arguments, preload, added)


def _started(
    function: Callable[..., None], arguments: tuple[Any, ...], preload: Sequence[str] | None, added: dict[str, str]
) -> BaseProcess:
    if preload is not None and _can_fork():
        try:
            return _forked(function, arguments, preload, {**os.environ, **added})
        except (EOFError, OSError):  # the warm process ended in an import, and would do so again
            os.environ[_METHOD] = "spawn"
    with _set(added):
        process = multiprocessing.get_context("spawn").Process(target=function, args=(None, *arguments), daemon=True)
        process.start()
    return process


def start_warm_process(preload: Sequence[str]) -> None:
    """Start the warm process, if forks are safe here: it imports Newton beside its caller.

    Args:
        preload: Modules that it imports, too.
    """
    if not _can_fork():
        return
    multiprocessing.get_context("forkserver").set_forkserver_preload([_FIRST, *preload, _LAST])
    with _set(_ONE_THREAD):
        forkserver.ensure_running()


def take_over(surroundings: Surroundings | None) -> None:
    """Take over environment and standard error of the caller, in a fork of the warm process."""
    if surroundings is None:
        return
    environment, errors = surroundings
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(errors.descriptor, 2)
    os.close(errors.descriptor)


def leave_stops_to_caller(patience: float = 30.0) -> None:
    """Outlive Ctrl-C, SIGTERM and SIGHUP, which may reach all processes of a run: the caller ends this one.

    Args:
        patience: Time that the caller has for that after SIGTERM, by which Python, too, ends its processes [s].
    """
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: threading.Timer(patience, os._exit, (128 + signal.SIGTERM,)).start())


def leave_environment() -> None:
    """Remove the variables of the warm process, when it has imported what they are for."""
    for name in _ONE_THREAD:
        os.environ.pop(name, None)


def _can_fork() -> bool:
    """Return whether a fork is safe: on Linux, if the user did not ask for threads or fresh processes."""
    is_free = all(os.environ.get(name, value) == value for name, value in _ONE_THREAD.items())
    return sys.platform == "linux" and is_free and os.environ.get(_METHOD) != "spawn"


def _forked(
    function: Callable[..., None], arguments: tuple[Any, ...], preload: Sequence[str], environment: dict[str, str]
) -> BaseProcess:
    start_warm_process(preload)
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=function, args=((environment, _Stream(2)), *arguments), daemon=True)
    process.start()
    return process


@contextmanager
def _undivided() -> Iterator[None]:
    """Hold Ctrl-C, SIGTERM and SIGHUP back: a start that they cut leaves a process without its arguments."""
    held: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    stops = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if is_main and hasattr(signal, name)]
    answers = {each: signal.getsignal(each) for each in stops if callable(signal.getsignal(each))}
    for each in answers:
        signal.signal(each, lambda number, _: held.append(number))
    try:
        yield
    finally:
        for each, answer in answers.items():
            signal.signal(each, answer)
        if held:
            signal.raise_signal(held[0])


@contextmanager
def _set(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def free_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usable_cores(where: str = "processes") -> int:
    """Return the number of cores that this process may use, or fewer if the memory is too small for as many processes.

    Args:
        where: Beginning of the error.

    Raises:
        ConfigError: The memory of this machine is unknown.
    """
    memory = physical_memory()
    if memory is None:
        raise ConfigError(f"{where}: the memory of this machine is unknown; give a number")
    return max(1, min(free_cores(), int(memory / _MEMORY_OF_PROCESS)))
