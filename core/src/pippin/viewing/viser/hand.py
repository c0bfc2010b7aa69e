"""Hand of a user: what was clicked on a page, kept until the thread of the simulation acts."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

__all__ = ["Hand"]


class Hand:
    """Acts that a user asked for on other threads, in their order; none of these threads touches the simulation."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()
        #: How many resets were asked for so far.
        self.reset_count = 0
        #: How many targets were written so far.
        self.target_count = 0

    @property
    def is_waiting(self) -> bool:
        """Whether something was asked for that is not done yet."""
        return not self._waiting.empty()

    def later(self, act: Callable[[Any], None]) -> Callable[[Any], Coroutine[Any, Any, None]]:
        """Return a callback for a control of the page, which lets `act` be done later with the control's value."""

        async def ask(event: Any) -> None:
            if event.client_id is not None:  # else the program itself changed the value
                self._waiting.put(partial(act, event.target.value))

        return ask

    def act(self) -> None:
        """Do everything that was asked for."""
        while True:
            try:
                act = self._waiting.get_nowait()
            except Empty:
                return
            act()

    def notes(self) -> list[str]:
        """Return a phrase if a user changed the simulation."""
        counts = ((self.reset_count, "reset"), (self.target_count, "target"))
        acts = [f"{count} {what}{'s' * (count > 1)}" for count, what in counts if count]
        return [f"a hand acted on the page: {', '.join(acts)}"] if acts else []
