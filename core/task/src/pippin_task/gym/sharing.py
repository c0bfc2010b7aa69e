"""Memory and signals that the processes of an environment share: the arrays of all worlds, and a byte for each step."""

from __future__ import annotations

import mmap
import os
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from enum import Enum

import attrs
import numpy as np
from pippin import ConfigError, SimulationError

_ALIGNMENT = 64
_PLACE = "/dev/shm"


@attrs.frozen
class SharedLayout:
    """Names, shapes and types of shared arrays."""

    worlds: int
    """Number of worlds: the first axis of all arrays."""

    rows: Mapping[str, tuple[tuple[int, ...], str]]
    """Shape of the row of a world, and dtype, by name."""


class SharedArrays:
    """Arrays in shared memory: that of another process by its descriptor, or else a new one.

    Raises:
        SimulationError: There is not enough shared memory.
    """

    def __init__(self, layout: SharedLayout, file: int | None = None) -> None:
        places, size = dict[str, int](), 0
        for name, (shape, dtype) in layout.rows.items():
            places[name] = size
            bytes_needed = layout.worlds * int(np.prod(shape)) * np.dtype(dtype).itemsize
            size += -(-bytes_needed // _ALIGNMENT) * _ALIGNMENT
        #: Descriptor of the memory.
        self.file = _new_file(size) if file is None else file
        memory = mmap.mmap(self.file, size)
        #: The arrays by name, shape [worlds, …]; they keep the memory.
        self.arrays: dict[str, np.ndarray] = {
            name: np.ndarray((layout.worlds, *shape), dtype, memory, places[name])
            for name, (shape, dtype) in layout.rows.items()
        }


def refuse_different(layouts: Sequence[SharedLayout]) -> None:
    """Refuse shards whose worlds have other actions, observations or rewards."""
    for index, layout in enumerate(layouts):
        for name, (shape, _) in layouts[0].rows.items():
            other, _ = layout.rows.get(name, ((), ""))
            if other != shape:
                raise ConfigError(
                    f"shards: {name!r} has the shape {list(shape)} for a world of shard 0 and {list(other)} for one of"
                    f" shard {index}; let all worlds have the same joints and sensors, or leave 'shards' out"
                )


def _new_file(size: int) -> int:
    with tempfile.TemporaryFile(prefix="pippin", dir=_PLACE if os.path.isdir(_PLACE) else None) as stream:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(stream.fileno(), 0, size)
            else:  # macOS
                stream.truncate(size)
        except OSError as error:
            raise SimulationError(
                f"shards: {size / 1e6:.1f} MB of shared memory are needed ({error.strerror}); give {_PLACE} more space,"
                " by --shm-size of a container say, or use fewer worlds"
            ) from error
        return os.dup(stream.fileno())


STEP = b"s"
"""Take a step; and the answer when it is taken."""

LEAVE = b"l"
"""Take no further steps, and answer calls."""

FAILED = b"f"
"""The step raised an error: the call that follows signals has ended."""

_SPIN_TIME = 50e-6
"""Time of looking for a signal before the process sleeps [s]: waking a process takes about as long."""


class SignalState(Enum):
    """State of workers that may follow signals."""

    IDLE = "idle"
    """They answer calls."""

    FOLLOWING = "following"
    """They wait for the next signal."""

    STEPPING = "stepping"
    """They take a step; an interrupted step never leaves this state."""


class StepSignals:
    """Sockets to `count` workers that follow signals while a call is pending; `cure` ends the error after a break."""

    def __init__(self, count: int, cure: str) -> None:
        pairs = [socket.socketpair() for _ in range(count)]
        self._sockets, self._cure = [own for own, _ in pairs], cure
        #: The ends of the workers, to be sent to them.
        self.worker_sockets: Sequence[socket.socket] = [theirs for _, theirs in pairs]
        #: State of the workers.
        self.state = SignalState.IDLE

    def send_descriptor(self, descriptor: int) -> None:
        """Send the descriptor of a file to all workers."""
        for each in self._sockets:
            socket.send_fds(each, [STEP], [descriptor])

    def raise_if_interrupted(self, what: str) -> None:
        """Refuse a call after an interrupted step."""
        if self.state is SignalState.STEPPING:
            raise SimulationError(
                f"{what}: a step was interrupted, so that shards may be at different steps; {self._cure}"
            )

    def step(self) -> bool:
        """Let all workers take a step, and return whether all could; else none follows any longer."""
        self.state = SignalState.STEPPING
        for each in self._sockets:
            _send(each, STEP)
        answers = [receive_signal(each) for each in self._sockets]
        self.state = SignalState.FOLLOWING
        if all(answer == STEP for answer in answers):
            return True
        self._leave([each for each, answer in zip(self._sockets, answers, strict=True) if answer == STEP])
        return False

    def leave(self) -> None:
        """Let the workers follow no longer."""
        if self.state is not SignalState.IDLE:
            self._leave(self._sockets)

    def close(self) -> None:
        """Close the sockets."""
        for each in self._sockets:
            each.close()

    def _leave(self, sockets: Sequence[socket.socket]) -> None:
        for each in sockets:
            _send(each, LEAVE)
        self.state = SignalState.IDLE


def receive_signal(source: socket.socket) -> bytes:
    """Return the next signal of the other process; empty if it has ended."""
    end = time.perf_counter() + _SPIN_TIME
    try:
        while time.perf_counter() < end:
            try:
                return source.recv(1, socket.MSG_DONTWAIT)
            except BlockingIOError:
                os.sched_yield()  # the other process may need this core
        return source.recv(1)
    except ConnectionResetError:
        return b""


def _send(target: socket.socket, signal: bytes) -> None:
    try:
        target.send(signal)
    except (BrokenPipeError, ConnectionResetError):
        return
