"""Functions and objects in processes of their own: they share no memory, and a crash ends one process only."""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar, cast

import attrs
from pippin.closing import Closing
from pippin.devices import start_newton
from pippin.errors import PippinError, SimulationError

from .modules import ModulesOfFiles, modules_of_files
from .start import Surroundings, leave_stops_to_caller, start_process, take_over

_Process = TypeVar("_Process", bound="WorkerProcess")


class RemoteError(Exception):
    """The traceback of an error in another process, as text: it is the cause of the error that is raised here."""


class WorkerProcess(Closing):
    """A function that runs in another interpreter, not a copy of this one, and exchanges messages with its caller.

    Leaving a `with` block ends the process, whatever it is doing. It also ends if this process ends, even by a kill.

    Args:
        name: Name of the process in errors.
        function: Called with its end of the connection, then `arguments`; importable by its name from its module.
        arguments: Plain data; they are pickled.
        requires_grad: If given, Newton is imported before the module of `function`, and kernels are compiled with or
            without gradients.
        preload: If given, the process may be a fork of one that has imported Newton without backward kernels, and these
            modules if it is the first fork. Where forks are not safe, it is a fresh process all the same.
        environment: Variables to set there if this process does not have them.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., None],
        *arguments: Any,
        requires_grad: bool | None = None,
        preload: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._name = name
        own, theirs = cast("tuple[Connection, Connection]", multiprocessing.Pipe())
        #: The connection with the function.
        self.connection: Connection = own
        own_arguments = theirs, ModulesOfFiles(modules_of_files()), requires_grad, pickle.dumps(function), arguments
        self._process = start_process(_run, own_arguments, preload=preload, environment=environment or {})
        theirs.close()

    def send(self, message: Any) -> None:
        """Send a message to the function. It is dropped if the process has ended; `receive` gives the reason."""
        try:
            self.connection.send(message)
        except BrokenPipeError:
            return

    def receive(self, timeout: float | None = None) -> Any:
        """Return the next message of the function.

        Args:
            timeout: Longest wait [s]; None waits without limit.

        Raises:
            PippinError: The function raised this error.
            SimulationError: The process ended without a message, or sent none in time.
        """
        try:
            if not self.connection.poll(timeout):
                raise SimulationError(f"{self._name}: no answer within {timeout:g} s; give it more time, or less to do")
            message = self.connection.recv()
        except (EOFError, ConnectionResetError) as error:
            self._process.join()
            code = self._process.exitcode or 0
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            raise SimulationError(f"{self._name}: the process ended with {how}; see what it printed") from error
        match message:
            case (PippinError() as error, str(trace)):
                raise error from RemoteError(f"in the process of {self._name}\n{trace}")
        return message

    @property
    def pid(self) -> int:
        """Number of the process."""
        assert self._process.pid is not None  # it is started
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs. Costs microseconds."""
        return self._process.is_alive()

    def close(self) -> None:
        """End the process, whatever it is doing, and wait until it is gone."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def wait_any(workers: Collection[_Process], timeout: float | None = None) -> list[_Process]:
    """Return the workers that sent a message or ended; none if nothing happens in time.

    Args:
        workers: The workers or processes to wait for.
        timeout: Longest wait [s]; None waits without limit.
    """
    arrived = wait([worker.connection for worker in workers], timeout)
    return [worker for worker in workers if worker.connection in arrived]


def _run(
    surroundings: Surroundings | None,
    connection: Connection,
    _: None,
    requires_grad: bool | None,
    function: bytes,
    arguments: tuple[Any, ...],
) -> None:
    """Run the function. Standard output belongs to the caller, so everything printed here goes to standard error."""
    take_over(surroundings)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    leave_stops_to_caller()
    os.dup2(sys.stderr.fileno(), 1)
    warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
    atexit.register(gc.freeze)  # or Python walks all that was imported once more before it ends
    try:
        if requires_grad is not None:
            start_newton(requires_grad=requires_grad)
            gc.freeze()  # the collector need not walk what was imported while the function runs
        with suppress(BrokenPipeError):  # the caller has ended, and nobody waits for an answer
            pickle.loads(function)(connection, *arguments)  # imports its module
    except PippinError as error:
        connection.send((error, "".join(traceback.format_exception(error))))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL if os.name == "posix" else signal.SIGTERM)


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
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # any code may run there
        return SimulationError(f"{type(error).__name__}: {error}")
    return error
