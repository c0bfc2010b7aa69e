"""The worker of a shard: a process that makes an object, and calls its methods as messages ask."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import attrs
from pippin.errors import SimulationError

__all__ = ["Answer", "serve"]


@attrs.frozen(kw_only=True)
class Answer:
    """The result of a call in a worker."""

    number: int
    """Number of the call."""

    value: Any = None
    """What the method returned."""

    error: BaseException | None = None
    """What it raised; also if the worker was lost."""

    trace: str = ""
    """The traceback in the worker."""

    is_lost: bool = False
    """Whether the worker ended in the call, or before."""


def serve(connection: Connection, make: Callable[..., Any], *arguments: Any) -> None:
    """Make the object, and answer calls: a message is a number, the name of a method, and its arguments.

    The first answer, of number 0, tells that the object is made. Without it, there are no others.

    Args:
        connection: The connection with the caller.
        make: Returns the object.
        *arguments: The arguments of `make`.
    """
    made = _answer(0, make, arguments)
    connection.send(attrs.evolve(made, value=None))
    while made.error is None:
        try:
            number, method, given = connection.recv()
        except EOFError:
            return
        connection.send(_answer(number, getattr(made.value, method), given))


def _answer(number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Answer:
    try:
        return Answer(number=number, value=function(*arguments))
    except Exception as error:  # the caller raises it again
        return Answer(number=number, error=_sendable(error), trace=traceback.format_exc())


def _sendable(error: Exception) -> Exception:
    """Return the error, or one that tells of it if it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # any code may run there
        return SimulationError(f"{type(error).__name__}: {error}")
    return error
