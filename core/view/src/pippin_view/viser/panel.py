"""A page with its panel, for a simulation or a recording."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from functools import partial

from .config import ViserConfig
from .controls import Controls
from .hand import BodyPicker
from .pacing import Pace
from .page import Page
from .playback import ViewedSimulation
from .ports import free_port
from .status import Status
from .user_input import UserInput

_GRACE_PERIOD = 1.0
"""Time without a client after which all have left [s]: a tab that is loaded again is gone for a moment."""

_STATUS_PERIOD = 0.25
"""Time between two changes of the texts on the page [s]."""


class Clients:
    """The browsers that have a page open."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._last_seen: float | None = None

    @property
    def count(self) -> int:
        """Number of browsers that have the page open."""
        return len(self._page.server.get_clients())

    def have_left(self) -> bool:
        """Tell whether there were clients, and none for a second. Call it often."""
        if self.count:
            self._last_seen = clock.monotonic()
        return self._last_seen is not None and clock.monotonic() > self._last_seen + _GRACE_PERIOD


class Panel:
    """A page, its controls, and its status. It starts a server."""

    def __init__(
        self, shown: ViewedSimulation, worlds: Sequence[int], config: ViserConfig, *, is_recorded: bool = False
    ) -> None:
        self.shown, self.user_input, self.pace = shown, UserInput(), Pace(config.speed)
        self.page = Page(shown, worlds, free_port(config.port, "port"), "Pippin")
        #: The browsers that have the page open.
        self.clients = Clients(self.page)
        self.status = Status(self.page)
        self.page.is_dark = bool(config.dark)
        self.hand = BodyPicker(self.page, shown, self.user_input, is_recorded=is_recorded)
        self.controls = Controls(self.page, shown, worlds, self.pace, self.user_input, is_recorded=is_recorded)
        if config.dark is None:
            self.page.guard.on_scheme = lambda is_dark: self.user_input.put(partial(self.controls.darken, is_dark))
        self.page.marks += [self.hand.show, self.controls.show_marks]
        self._next_status = 0.0

    def show(self) -> bool:
        """Send the present state to the browsers, and tell whether the texts of the page are due."""
        self.page.show(self.shown, self.shown.time)
        now = clock.perf_counter()
        if now < self._next_status:
            return False
        self._next_status = now + _STATUS_PERIOD
        controls = self.controls
        self.status.show(self.shown, is_paused=controls.is_paused, drawn=len(controls.worlds), start=controls.start)
        self.status.name(self.hand.text)
        return True
