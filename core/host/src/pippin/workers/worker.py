"""A worker: an object in a process of its own, whose methods are called by messages."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import attrs
from pippin.errors import SimulationError

from .process import WorkerProcess


@attrs.frozen(kw_only=True)
class CallResult:
    """The result of a call in a worker."""

    number: int
    """Number of the call; that of the constructor is 0."""

    value: Any = None
    """What the method returned."""

    error: BaseException | None = None
    """What it raised; also if the worker was lost."""

    trace: str = ""
    """The traceback in the worker."""

    is_lost: bool = False
    """Whether the worker ended in the call, or before."""


@attrs.frozen
class _Event:
    """A message of the object in the middle of a call."""

    content: Any


class Worker(WorkerProcess):
    """An object in a process of its own. Its methods are called one after the other, and so is its constructor.

    Each call has one `result`, that of the constructor is the first one. Leaving a `with` block ends the process.

    Args:
        name: Name of the worker in errors.
        make: Returns the object; importable by its name from its module.
        *arguments: The arguments of `make`; plain data.
        requires_grad: As for `WorkerProcess`.
        preload: As for `WorkerProcess`.
        environment: As for `WorkerProcess`.
        on_event: Called with the events that the object emits in calls. With it, `make` gets a function before its
            other arguments: called with plain data, it emits an event.
    """

    def __init__(
        self,
        name: str,
        make: Callable[..., Any],
        *arguments: Any,
        requires_grad: bool | None = None,
        preload: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        on_event: Callable[[Any], None] | None = None,
    ) -> None:
        self._number, self._on_event = 0, on_event
        own = on_event is not None, make, *arguments
        start = {"requires_grad": requires_grad, "preload": preload, "environment": environment}
        super().__init__(name, _serve, *own, **start)

    @property
    def call_count(self) -> int:
        """Number of calls so far."""
        return self._number

    def start_call(self, method: str, *arguments: Any) -> None:
        """Let the worker call a method of its object.

        Args:
            method: Name of the method.
            *arguments: Its arguments; plain data.
        """
        self._number += 1
        self.send((self._number, method, arguments))

    def result(self, timeout: float | None = None) -> CallResult:
        """Return the result of the last call, when there is one; those of calls before are dropped.

        Args:
            timeout: Longest wait for a message [s]; None waits without limit. A late worker counts as lost.
        """
        while True:
            result = self.take(timeout)
            if result is not None:
                return result

    def take(self, timeout: float | None = None) -> CallResult | None:
        """Read one message: return the result of the last call, or None after an event.

        Args:
            timeout: As for `result`.
        """
        try:
            message = self.receive(timeout)
        except SimulationError as error:  # the process ended; the worker's loop itself raises nothing
            return CallResult(number=self._number, error=error, is_lost=True)
        if isinstance(message, _Event):
            assert self._on_event is not None  # else the object has nothing to emit events with
            self._on_event(message.content)
        elif message.number == self._number:
            return message
        return None


def _serve(connection: Connection, emits: bool, make: Callable[..., Any], *arguments: Any) -> None:
    """Make the object, and answer calls: a message is a number, the name of a method, and its arguments.

    The first result, of number 0, is that of the constructor. If it failed, there are no others.
    """
    if emits:
        arguments = (lambda content: connection.send(_Event(content)), *arguments)
    answer = _result(0, make, arguments)
    connection.send(attrs.evolve(answer, value=None))
    while answer.error is None:
        try:
            number, method, arguments = connection.recv()
        except EOFError:
            return
        connection.send(_result(number, getattr(answer.value, method), arguments))


def _result(number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> CallResult:
    try:
        return CallResult(number=number, value=function(*arguments))
    except Exception as error:  # the caller raises it again
        return CallResult(number=number, error=_sendable(error), trace=traceback.format_exc())


def _sendable(error: Exception) -> Exception:
    """Return the error, or one with its text if it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # any code may run there
        return SimulationError(f"{type(error).__name__}: {error}")
    return error
