"""Queue of user input from a page, processed between control steps on the thread of the simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any


class UserInput:
    """Calls that a user requested on the threads of the server, in their order; none of these threads touches the
    simulation.
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
        #: Number of changes of the simulation so far, by what they are.
        self.changes: Counter[str] = Counter()

    @property
    def is_pending(self) -> bool:
        """Whether the queue has calls that are not processed yet."""
        return not self._queue.empty()

    def queued(self, call: Callable[[Any], None]) -> Callable[[Any], Coroutine[Any, Any, None]]:
        """Return a callback for a control of the page; it queues `call` with the value of the control."""

        async def enqueue(event: Any) -> None:
            if event.client_id is not None:  # else the program itself changed the value
                self._queue.put(partial(call, event.target.value))

        return enqueue

    def put(self, call: Callable[[], None]) -> None:
        """Queue a call."""
        self._queue.put(call)

    def process(self) -> None:
        """Make all calls of the queue."""
        while True:
            try:
                call = self._queue.get_nowait()
            except Empty:
                return
            call()

    def notes(self) -> list[str]:
        """Return a phrase if a user changed the simulation."""
        changes = [f"{count} {what}{'s' * (count > 1)}" for what, count in self.changes.items()]
        return [f"changed from the page: {', '.join(changes)}"] if changes else []
