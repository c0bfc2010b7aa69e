"""Words between the caller and the workers of a sharded environment, one byte each, on a line of sockets."""

from __future__ import annotations

import os
import socket
import time

__all__ = ["FAILED", "LEAVE", "STEP", "hear", "tell"]

STEP = b"s"
"""Take a step; and the answer when it is taken."""

LEAVE = b"l"
"""Take no further steps, and answer calls."""

FAILED = b"f"
"""The step raised: the call of `follow` has ended."""

_LOOK = 50e-6
"""Time for which a word is looked for before the process sleeps [s]: to wake one takes about as long."""


def tell(line: socket.socket, word: bytes) -> None:
    """Send a word; nothing happens if the other process has ended, as its silence tells it."""
    try:
        line.send(word)
    except (BrokenPipeError, ConnectionResetError):
        return


def hear(line: socket.socket) -> bytes:
    """Return the next word of the other process; empty if it has ended."""
    end = time.perf_counter() + _LOOK
    try:
        while time.perf_counter() < end:
            try:
                return line.recv(1, socket.MSG_DONTWAIT)
            except BlockingIOError:
                os.sched_yield()  # the other process may need this core
        return line.recv(1)
    except ConnectionResetError:
        return b""
