"""Engines in this process, and in one of their own, behind one interface."""

from __future__ import annotations

import abc
import builtins
import importlib
import json
import mmap
import os
import re
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from pippin import ConfigError, PluginError, SimulationError
from pippin.solving import EngineMemory

from . import shim
from .environments import python_of
from .source import place_of, source_of

EngineArrays = Mapping[str, tuple[Sequence[int], Any]]
"""The shape of each array that host and engine share, and its type."""

EngineArguments = Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""The arguments of an engine, or what makes them from `name` and `version` of its library."""

_STOP = 5.0
"""Longest wait for a process that was killed [s]."""

_START = 120.0
"""Longest time for a start and a build, if `timeout` is not longer [s]: an engine is imported, and reads its files."""

_TAIL = 4096
"""Bytes of what an engine printed that an error repeats."""

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


def start_engine(config: Any, arguments: EngineArguments, arrays: EngineArrays) -> RunningEngine:
    """Start the engine of a solver, in this process, or in the environment that its settings name.

    Args:
        config: The settings, with `engine`, `environment` and `timeout`; see `EngineSource`.
        arguments: The keyword arguments of `Engine` beside its arrays, of what JSON has and NumPy arrays, or a function
            that returns them for a mapping with the `name` and `version` of the engine's distribution.
        arrays: The shape and type of each array that the host and the engine share; all are zero at the start.

    Raises:
        ConfigError: There is no such environment, the engine is not in it, or it speaks another version of the
            contract.
        SimulationError: The engine could not be made.
    """
    if config.environment is None and source_of(config).is_apart:
        raise ConfigError(
            "solver.environment: this engine needs an environment of its own; `pippin env add` makes one, and"
            " environment names it"
        )
    if config.environment is None:
        return _EngineHere(config, arguments, arrays)
    return EngineProcess(config, arguments, arrays)


class RunningEngine(abc.ABC):
    """An engine: its arrays are shared, its step is a call, and it is asked anything else by the name of a method.

    The end of a `with` block closes it. `ValueError` and `NotImplementedError` of the engine arrive as they are, any
    other exception as a `SimulationError`.
    """

    arrays: Mapping[str, np.ndarray]
    """Arrays of host and engine by name, each of the shape that `start_engine` was given: both read and write them, in
    turn."""

    facts: Mapping[str, Any]
    """What the engine told of itself when it was made: its attribute `facts`."""

    @abc.abstractmethod
    def step(self, count: int = 1) -> None:
        """Let the engine take substeps.

        Args:
            count: Their number.

        Raises:
            SimulationError: The engine failed; or its process ended, or gave no answer in time.
        """

    @abc.abstractmethod
    def call(self, method: str, /, **arguments: Any) -> Any:
        """Return what a method of the engine returns: what JSON has, and NumPy arrays.

        Args:
            method: Its name.
            **arguments: What JSON has, and NumPy arrays.

        Raises:
            SimulationError: As `step`.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """End it; nothing happens if it has ended."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def memory(self) -> EngineMemory:
        """Return the memory of an engine that has the methods `save() -> bytes` and `load(data)`, for checkpoints."""
        return _Memory(self)


class _Traceback(Exception):  # noqa: N818 - the cause of an error
    """The traceback of an exception in the process of an engine, as text."""


class _Memory(EngineMemory):
    """The memory of an engine as the array of its bytes, which crosses to another process."""

    def __init__(self, engine: RunningEngine) -> None:
        self._engine = engine

    def save(self) -> bytes:
        return bytes(np.asarray(self._engine.call("save")).tobytes())

    def load(self, data: bytes) -> None:
        self._engine.call("load", data=np.frombuffer(data, np.uint8))


class _EngineHere(RunningEngine):
    """An engine that this process imports."""

    def __init__(self, config: Any, arguments: EngineArguments, arrays: EngineArrays) -> None:
        module = _imported(place_of(config)[0])
        _refuse_other_contract(module.__name__, module.CONTRACT)
        self.arrays = {name: np.zeros(shape, dtype) for name, (shape, dtype) in arrays.items()}
        hello = {"name": module.DISTRIBUTION, "version": shim.version_of(module.DISTRIBUTION)}
        told = arguments(hello) if callable(arguments) else arguments
        with _translated():
            self._engine: Any = module.Engine(self.arrays, **told)
        self.facts = getattr(self._engine, "facts", {})

    def step(self, count: int = 1) -> None:
        with _translated():
            self._engine.step(count)

    def call(self, method: str, /, **arguments: Any) -> Any:
        with _translated():
            return getattr(self._engine, method)(**arguments)

    def close(self) -> None:
        self._engine = None


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PluginError(
            f"solver: {name} cannot be imported here ({error}); install the extra `engine` of its package, or name an"
            " environment that has it: `pippin env add` makes one"
        ) from error


def _refuse_other_contract(module: str, found: object) -> None:
    if found != shim.CONTRACT:
        raise ConfigError(
            f"solver: {module} has CONTRACT = {found!r}, and this Pippin speaks version {shim.CONTRACT} with engines;"
            " install versions of both that agree"
        )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (ValueError, NotImplementedError):
        raise
    except Exception as error:
        raise SimulationError(f"solver: {type(error).__name__}: {error}") from error


class EngineProcess(RunningEngine):
    """An engine in the Python of its environment, which ends with this process.

    Args:
        config: The settings, with `engine`, `environment` and `timeout`.
        arguments: The keyword arguments of `Engine`, or a function that returns them; None only says hello.
        arrays: The shape and type of each shared array.
        signals: `"events"` of Linux, or `"sockets"` of any system; by default what this system has.
        source: The class that has `engine`; by default that of the settings.

    Raises:
        ConfigError: As `start_engine`.
        SimulationError: As `start_engine`.
    """

    def __init__(
        self,
        config: Any,
        arguments: EngineArguments | None = None,
        arrays: EngineArrays | None = None,
        signals: str | None = None,
        source: type | None = None,
    ) -> None:
        signals = signals or ("events" if hasattr(os, "eventfd") else "sockets")
        connection = _Connection(config, source or type(config), _Events if signals == "events" else _Sockets)
        weakref.finalize(self, connection.end, os.getpid())
        self._connection = lambda: connection  # in a closure: what it holds is of this process, and no state
        try:
            #: What the process said first: `python`, `numpy`, `name` and `version` of the engine, `contract`.
            self.hello: Mapping[str, Any] = connection.meet()
            _refuse_other_contract(connection.module, self.hello["contract"])
            self.arrays = connection.share(arrays or {})
            told = arguments(self.hello) if callable(arguments) else arguments
            self.facts = {} if told is None else connection.build(told)
        except BaseException:
            self.close()
            raise

    def step(self, count: int = 1) -> None:
        """Let the engine take `count` substeps; see `RunningEngine.step`."""
        self._connection().step(count)

    def call(self, method: str, /, **arguments: Any) -> Any:
        """Return what a `method` of the engine returns for `arguments`; see `RunningEngine.call`."""
        return self._connection().call(method, arguments)

    def close(self) -> None:
        """End the process, whatever it computes."""
        self._connection().end(os.getpid())

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._connection().process.pid


class _Connection:
    """The host's end of an engine's process."""

    def __init__(self, config: Any, source: type, line: type[_Events] | type[_Sockets]) -> None:
        (self.module, file), self._environment = place_of(source), str(config.environment)
        self._leftovers = source_of(source).leftovers
        self._name, self._timeout = self.module.rpartition(".")[0] or self.module, float(config.timeout)
        self._longest_start = max(_START, self._timeout)
        python = python_of(self._environment)
        self._line = line()
        self.process = self._line.start([str(python), "-I", "-u", "-X", "utf8", shim.__file__], str(file))
        self._tail: deque[str] = deque()
        self._relay = threading.Thread(target=_relay, args=(self.process.stderr, self._name, self._tail), daemon=True)
        self._relay.start()
        self._is_open = True

    def meet(self) -> Any:
        """Return what the process says first."""
        self._line.meet(self._longest_start, self.process)
        return self._answer("its start", self._longest_start)

    def share(self, arrays: EngineArrays) -> dict[str, np.ndarray]:
        """Return arrays in memory that both ends have."""
        self._layout, size = list[Any](), shim.HEAD
        for name, (shape, dtype) in arrays.items():
            own = np.dtype(dtype)
            self._layout.append([name, own.str, [int(each) for each in shape], size])
            size += -(-max(1, int(np.prod(shape, dtype=int))) * own.itemsize // 64) * 64
        block, self._memory = self._line.memory(size)
        self._head = memoryview(block)[: shim.HEAD].cast("q")
        return shim.shared(block, self._layout)

    def build(self, arguments: Mapping[str, Any]) -> Any:
        """Let the process make its engine, and return what it tells of itself."""
        told = {"memory": self._memory, "layout": self._layout, "arguments": dict(arguments)}
        return self._told("build", told, "the build", self._longest_start)

    def step(self, count: int) -> None:
        head = self._head
        head[0] = count
        head[1] += 1
        with suppress(ConnectionError, OSError):  # the process has ended; `wait` says so
            self._line.go()
        if shim.look(lambda: head[3] == head[1], shim.HOST_LOOKS):
            self._line.take()
        elif (ready := self._line.wait(self._timeout)) != "done":
            self._answer("a step", ready=ready)  # to wait again would miss a step that is done by now

    def call(self, method: str, arguments: Mapping[str, Any]) -> Any:
        return self._told(method, arguments, f"`{method}`")

    def end(self, owner: int) -> None:
        if os.getpid() != owner or not self._is_open:
            return  # a fork of the process that it belongs to
        self._is_open = False
        self.process.kill()
        self.process.wait(_STOP)
        self._relay.join(_STOP)
        self._line.close()
        for path in self._leftovers:
            Path(path.format(pid=self.process.pid)).unlink(missing_ok=True)

    def _told(self, kind: str, content: Any, what: str, timeout: float | None = None) -> Any:
        self._line.channel.settimeout(timeout or self._timeout)
        try:
            with suppress(ConnectionError):
                shim.send(self._line.channel, kind, content)
        except TimeoutError:
            return self._answer(what, timeout, ready="nothing")
        return self._answer(what, timeout)

    def _answer(self, what: str, timeout: float | None = None, *, ready: str | None = None) -> Any:
        """Return the content of the next message; raise what it tells, and the end of the process."""
        timeout = timeout or self._timeout
        self._line.channel.settimeout(timeout)  # it may stop within a message
        try:
            if (ready or self._line.wait(timeout)) == "nothing":
                raise TimeoutError
            kind, content = shim.receive(self._line.channel)
        except TimeoutError:
            self.process.kill()
            self.process.wait(_STOP)
            raise SimulationError(
                f"solver: the engine of {self._name} gave no answer to {what} within {timeout:g} s, and its"
                f" process was ended; set solver.timeout to more{self._said()}"
            ) from None
        except (EOFError, ConnectionError) as error:
            raise SimulationError(self._ended(what)) from error
        if kind == "error":
            self._raise(content)
        return content

    def _ended(self, what: str) -> str:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_STOP)
        self.process.kill()  # it has closed the channel, and hangs
        code = self.process.wait(_STOP)
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return (
            f"solver: the process of the engine of {self._name} ended with {how} in {what}; see what it printed, and"
            f" try `pippin env check {self._environment}`{self._said()}"
        )

    def _said(self) -> str:
        self._relay.join(_STOP if self.process.poll() is not None else 0.0)
        tail = "".join(self._tail)[-_TAIL:].rstrip()
        return f"\nit printed at the end:\n{tail}" if tail else ""

    def _raise(self, told: Mapping[str, Any]) -> None:
        cause = _Traceback(f"in the process of the engine of {self._name}\n{told['trace']}")
        name, text = told["names"][0], told["text"]
        if "ImportError" in told["names"]:
            raise ConfigError(
                f"solver.environment: {self._environment!r} cannot import the engine of {self._name}: {text}; make it"
                " anew by `pippin env add`"
            ) from cause
        for refusal in ("NotImplementedError", "ValueError"):
            if refusal in told["names"]:
                raise getattr(builtins, refusal)(text) from cause
        raise SimulationError(f"solver: {name}: {text}") from cause


class _Events:
    """Signals of Linux: counters of the kernel for steps, a memory without a name, a pair of sockets for messages."""

    def __init__(self) -> None:
        self.channel, self._theirs = socket.socketpair()
        self._go, self._done = os.eventfd(0), os.eventfd(0)
        self._life, self._life_of_host = os.pipe()
        self._file = os.memfd_create("pippin")
        self._poll = select.poll()
        self._poll.register(self._done, select.POLLIN)
        self._poll.register(self.channel, select.POLLIN)

    def start(self, command: list[str], file: str) -> subprocess.Popen[bytes]:
        numbers = {"channel": self._theirs.fileno(), "go": self._go, "done": self._done, "life": self._life}
        process = _popen(command, {"file": file, **numbers}, (*numbers.values(), self._file))
        self._theirs.close()
        os.close(self._life)
        return process

    def meet(self, timeout: float, process: subprocess.Popen[bytes]) -> None:
        """Both ends are open."""

    def memory(self, size: int) -> tuple[Any, str]:
        os.ftruncate(self._file, size)
        return mmap.mmap(self._file, size), f"/proc/self/fd/{self._file}"

    def go(self) -> None:
        os.write(self._go, shim.ONE)

    def wait(self, timeout: float) -> str:
        """Return "done" after a step, "message" if there is one or the process ended, "nothing" in time."""
        ready = [number for number, _ in self._poll.poll(1000.0 * timeout)]
        if not ready:
            return "nothing"
        if self._done not in ready:
            return "message"
        self.take()
        return "done"

    def take(self) -> None:
        """Take the signal that a step is done."""
        os.read(self._done, 8)

    def close(self) -> None:
        self.channel.close()
        for number in (self._go, self._done, self._life_of_host, self._file):
            os.close(number)


class _Sockets:
    """Signals of any system: three connections within this machine, and a file for the memory."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._tokens = [secrets.token_hex(16) for _ in range(3)]
        self._open: list[socket.socket] = [self._server]
        self._path = ""

    def start(self, command: list[str], file: str) -> subprocess.Popen[bytes]:
        return _popen(command, {"file": file, "address": self._server.getsockname(), "tokens": self._tokens}, ())

    def meet(self, timeout: float, process: subprocess.Popen[bytes]) -> None:
        """Accept the three connections; those that do not know the token are closed."""
        found: dict[str, socket.socket] = {}
        self._server.settimeout(0.1)
        waits = int(timeout / 0.1) + 1
        while len(found) < len(self._tokens):
            try:
                line = self._server.accept()[0]
            except TimeoutError:
                waits -= 1
                if process.poll() is not None or not waits:
                    break
                continue
            line.settimeout(1.0)
            token = line.recv(32, socket.MSG_WAITALL).decode(errors="replace")
            line.settimeout(None)
            found[token] = line
            if token not in self._tokens:
                found.pop(token).close()
        self._open += found.values()
        if len(found) < len(self._tokens):
            self.channel, other = socket.socketpair()
            self._open.append(self.channel)
            other.close()  # as a process that ended
            return
        self.channel, self._pulse, _ = (found[token] for token in self._tokens)
        for line in found.values():
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def memory(self, size: int) -> tuple[Any, str]:
        number, self._path = tempfile.mkstemp(prefix="pippin-engine-")
        os.ftruncate(number, size)
        block = mmap.mmap(number, size)
        os.close(number)
        return block, self._path

    def go(self) -> None:
        self._pulse.sendall(b".")

    def wait(self, timeout: float) -> str:
        """As for the other signals."""
        pulse = getattr(self, "_pulse", self.channel)
        ready = select.select([self.channel, pulse], [], [], timeout)[0]
        with suppress(ConnectionError):
            if pulse in ready and pulse is not self.channel and pulse.recv(1):
                return "done"
        return "message" if ready else "nothing"

    def take(self) -> None:
        """As for the other signals."""
        self.wait(_STOP)

    def close(self) -> None:
        for line in self._open:
            line.close()
        if self._path:
            with suppress(OSError):
                Path(self._path).unlink()


def _popen(command: list[str], told: Mapping[str, Any], numbers: tuple[int, ...]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [*command, json.dumps(told)],
            pass_fds=numbers,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise ConfigError(
            f"solver.environment: cannot run {command[0]!r} ({error}); make it anew by `pippin env add`"
        ) from error


def _relay(stream: Any, name: str, tail: deque[str]) -> None:
    """Pass on what an engine prints to standard error, and keep the end of it."""
    with stream:
        for line in stream:
            text = _CONTROL.sub("", line.decode(errors="replace").rstrip("\r\n"))
            tail.append(text + "\n")
            while sum(map(len, tail)) > _TAIL and len(tail) > 1:
                tail.popleft()
            with suppress(ValueError, OSError):  # standard error is closed
                print(f"{name}: {text}", file=sys.stderr)
