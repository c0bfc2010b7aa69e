"""Step signals: the fast path of a call that workers answer again and again, a byte each way on sockets."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from enum import Enum

from pippin import SimulationError

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
    """Sockets to workers that follow signals while a call is pending.

    Args:
        count: Number of workers.
        cure: What a user can do after an interrupted step, for the error.
    """

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
    """Send a signal; nothing happens if the other process has ended: it gives no answer."""
    try:
        target.send(signal)
    except (BrokenPipeError, ConnectionResetError):
        return
