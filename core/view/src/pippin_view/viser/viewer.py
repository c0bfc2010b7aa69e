"""Viewer `viser`: a page in the browser that shows the robots of a simulation, with controls."""

from __future__ import annotations

import logging
import math
import sys
import time as clock
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

from pippin import hookimpl
from pippin.studies import stopped_between_steps

from pippin_view.configs import ViserConfig

from .goals import GoalHandles, Pad
from .operator import Operator
from .panel import Clients, Panel
from .series import Images, Plots
from .sliders import EpisodePanel, add_sliders

_LOGGER = logging.getLogger(__name__)


_SHARE = 0.07
"""Largest part of the time that frames take, with the work of the server: many particles are shown less often."""


class ViewerViser:
    """A page of this machine alone, over Newton's viewer for viser.

    The page shows the chosen worlds side by side. If no browser has it open, frames are left out. User input on the
    page is processed between two control steps.
    """

    is_observer = True

    _panel: Panel

    def __init__(self, config: ViserConfig) -> None:
        self.config = config
        #: Frames per second [Hz].
        self.frame_rate = config.rate
        #: Whether a pause ends when the last tab is closed; else the simulation waits for another one.
        self.ends_with_tabs = False
        #: Whether the log tells the address of the page.
        self.tells_url = True
        #: The recorder of demonstrations by a user of the page, and how many are wanted; None for no demonstrations.
        self.demonstrations: tuple[str, int | None] | None = None
        self._next_frame = self._sending_time = 0.0

    @hookimpl
    def bind(self, simulation: Any) -> None:
        """Start the server of the page.

        Raises:
            ConfigError: The port is in use, or a key names what the simulation does not have.
        """
        panel = Panel(simulation, self.config.worlds_of(simulation.world_count).tolist(), self.config)
        try:
            self._sliders: list[Any] = add_sliders(self.config.sliders, simulation, panel, "sliders")
            self._plots = Plots(self.config.plots, simulation, panel, "plots")
            self._images = Images(simulation, panel)
            self._operator = requested = None
            if self.demonstrations is not None:
                self._operator = Operator(simulation, panel, *self.demonstrations)
                requested = self._operator.requested
            self._goals = GoalHandles(simulation, panel, requested)
            self._episode = None if simulation.component("task") is None else EpisodePanel(simulation, panel)
            self._pad = Pad(simulation, panel, self._goals, self._operator, self._episode)
        except BaseException:
            panel.page.close()
            raise
        self._panel = panel
        if self._operator is not None:
            panel.controls.pause()
        if self.tells_url:
            _LOGGER.warning("the page is at %s", self.url)

    @property
    def url(self) -> str:
        """Address of the page."""
        return self._panel.page.url

    @property
    def clients(self) -> Clients:
        """The browsers that have the page open."""
        return self._panel.clients

    @property
    def notes(self) -> list[str]:
        """A phrase if a user reset worlds or wrote targets on the page."""
        return self._panel.user_input.notes() if hasattr(self, "_panel") else []

    def wants_frame(self) -> bool:
        """Tell whether a browser has the page open, and the frame before does not take too much of the time."""
        is_due = bool(self.clients.count) and clock.perf_counter() >= self._next_frame
        return is_due or self._panel.user_input.is_pending

    def wait_time(self) -> float:
        """Process the user input, and return the time until the next step [s], `inf` while the page pauses."""
        panel = self._panel
        panel.user_input.process()
        if self.is_complete:
            return 0.0
        if not panel.controls.takes_step():
            return 0.0 if self.ends_with_tabs and panel.clients.have_left() else math.inf
        return 0.0 if panel.controls.is_paused else panel.pace.wait_time(panel.shown.time)

    def act(self) -> bool:
        """Do what a user holds, a body or the pad, and write the action of an operator; tell if there is one."""
        is_moved = self._pad.act()
        is_operated = self._operator is not None and self._operator.act()
        return self._panel.hand.act() or is_moved or is_operated

    @property
    def is_complete(self) -> bool:
        """Whether all demonstrations that were wanted are kept."""
        return self._operator is not None and self._operator.is_complete

    @hookimpl
    def frame(self) -> None:
        """Send the state to the browsers."""
        start = clock.perf_counter()
        self._panel.user_input.process()
        self._plots.follow()
        self._images.follow()
        self._goals.follow()
        if self._panel.show():
            for sliders in self._sliders:
                sliders.follow()
            if self._episode is not None:
                self._episode.follow()
        end, sent = clock.perf_counter(), self._panel.page.sending_time
        cost = end - start + sent - self._sending_time
        self._next_frame, self._sending_time = end + (1.0 / _SHARE - 1.0) * cost, sent

    def pause(self, is_paused: bool = True) -> None:
        """Pause the simulation, or continue, as the page does."""
        self._panel.controls.pause(is_paused)

    def add_button(self, name: str, call: Callable[[], None], color: Any = None) -> None:
        """Add a button to the page, first of all; `call` runs at once, on a thread of the server.

        Args:
            name: What it says.
            call: It does not touch the simulation.
            color: A colour of Mantine, such as `red`.
        """
        self._panel.page.server.gui.add_button(name, color=color, order=-1.0).on_click(lambda event: call())

    def show_fault(self, fault: str) -> None:
        """Show an error on the page; an empty text removes it."""
        self._panel.status.fault = fault

    @hookimpl
    def close(self) -> None:
        """Stop the server; with `keep_open`, only after Ctrl-C."""
        if not hasattr(self, "_panel"):
            return
        with closing(self._panel.page), suppress(KeyboardInterrupt), stopped_between_steps() as stop_if_asked:
            if self.config.keep_open and sys.stdin is not None and sys.stdin.isatty():
                _LOGGER.warning("the page stays open at %s; press Ctrl-C to close it", self.url)
                while True:
                    self._panel.show()
                    clock.sleep(1.0 / self.config.rate)
                    stop_if_asked()
