"""The start of processes: fresh interpreters, or forks of a warm process that has imported Newton.

The warm process is Python's fork server. It has imported modules and done nothing else: it has neither initialised CUDA
nor started threads, and a fork would break both.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import reduction
from multiprocessing.process import BaseProcess
from typing import Any

__all__ = ["leave_environment", "start_process", "take_over"]

_METHOD = "PIPPIN_WORKERS"
"""Environment variable: with `spawn`, every worker is a fresh process."""

_WARM = "pippin.warm"
"""Module that the warm process imports."""

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "PXR_WORK_THREAD_LIMIT": "1", "TF_ENV_SETTING_ALERTS_ENABLED": "0"}
"""Environment of the warm process: NumPy and OpenUSD start no threads."""

Surroundings = tuple[dict[str, str], "_Stream"]
"""Environment and standard error, which a fork of the warm process takes over from its caller."""


class _Stream:
    """A stream of the caller, by its descriptor, which is duplicated when the stream is sent to a new process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __reduce__(self) -> tuple[Callable[[Any], _Stream], tuple[Any]]:
        return _duplicated, (reduction.DupFd(self.descriptor),)


def _duplicated(descriptor: Any) -> _Stream:
    return _Stream(descriptor.detach())


def start_process(
    function: Callable[..., None], arguments: tuple[Any, ...], *, is_warm: bool, environment: Mapping[str, str]
) -> BaseProcess:
    """Start a process.

    Args:
        function: The function that runs there. It gets surroundings for `take_over`, then the arguments.
        arguments: Plain data, connections and sockets.
        is_warm: Whether it may be a fork of the warm process.
        environment: Variables to set there if this process does not have them.
    """
    can_fork = is_warm and _can_fork()
    with _added(environment):
        if can_fork:
            try:
                return _forked(function, arguments)
            except (EOFError, OSError):  # the warm process ended in an import: a fresh process can tell why
                pass
        process = multiprocessing.get_context("spawn").Process(target=function, args=(None, *arguments), daemon=True)
        process.start()
    return process


def take_over(surroundings: Surroundings | None) -> None:
    """Take over environment and standard error of the caller, in a fork of the warm process."""
    if surroundings is None:
        return
    environment, errors = surroundings
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(errors.descriptor, 2)
    os.close(errors.descriptor)


def leave_environment() -> None:
    """Remove the variables of the warm process, when it has imported what they are for."""
    for name in _ONE_THREAD:
        os.environ.pop(name, None)


def _can_fork() -> bool:
    """Return whether a fork is safe: on Linux, if the user did not ask for threads or fresh processes."""
    is_free = all(os.environ.get(name, value) == value for name, value in _ONE_THREAD.items())
    return sys.platform == "linux" and is_free and os.environ.get(_METHOD) != "spawn"


def _forked(function: Callable[..., None], arguments: tuple[Any, ...]) -> BaseProcess:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_WARM])
    surroundings = dict(os.environ), _Stream(2)
    process = context.Process(target=function, args=(surroundings, *arguments), daemon=True)
    with _added(_ONE_THREAD):
        process.start()
    return process


@contextmanager
def _added(environment: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment that are not set, while a process is started in the block."""
    added = {name: value for name, value in environment.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
