"""Whose turn it is among the states of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import newton

__all__ = ["Turn"]


class Turn:
    """Whose turn it is among the states, while a hook or a callback runs: views read and write that one."""

    def __init__(self) -> None:
        self.state: newton.State | None = None
        """The state that was passed to the hook or callback; None between steps."""

    def around(self, state: newton.State, call: Callable[[], Any]) -> Callable[[], None]:
        """Return the call with this being the turn of `state`."""

        def run() -> None:
            self.state = state
            try:
                call()
            finally:
                self.state = None

        return run
