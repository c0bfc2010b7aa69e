"""Viewer `viser`: a page in the browser that shows the robots of a simulation, with controls."""

from __future__ import annotations

import logging
import math
import sys
import time as clock
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
from attrs.validators import ge, le, optional
from pippin.devices import WARP_LOCK
from pippin.extras import import_library
from pippin.hookspecs import hookimpl
from pippin.validators import positive
from pippin.viewing.config import ViewerConfig

from .audience import Audience
from .hand import Hand
from .pacing import Pace
from .ports import free_port

if TYPE_CHECKING:
    from .status import Stepped

__all__ = ["ViserConfig", "ViserViewer"]

_LOGGER = logging.getLogger(__name__)

_STATUS_PERIOD = 0.25
"""Time between two changes of the texts on the page [s]."""


@attrs.frozen(kw_only=True)
class ViserConfig(ViewerConfig):
    """A page in the browser that shows the robots, with pause, reset, speed, and sliders for targets."""

    speed: float | None = attrs.field(default=None, validator=optional(positive))
    """Simulated time per real time; by default as fast as it goes. The page can change it."""

    port: int | None = attrs.field(default=None, validator=optional([ge(1), le(65535)]))
    """Port of the page; by default the first free one from 8080."""

    sliders: tuple[str, ...] | None = None
    """Patterns of labels of actuators whose position targets have sliders; by default all of them."""

    plots: tuple[str, ...] = ()
    """Patterns of names of [channels](recordings.md) to plot, such as `"joint_q"`; the page can plot another one."""

    keep_open: bool = False
    """Whether the page stays open after the run until Ctrl-C, if the program has a terminal."""


class ViserViewer:
    """A page of this machine alone, over Newton's viewer for viser.

    The page shows the chosen worlds side by side. If no browser has it open, frames are left out. What a user does on
    the page happens between two control steps.
    """

    Config = ViserConfig
    is_observer = True

    def __init__(self, config: ViserConfig) -> None:
        self.config = config
        #: Frames per second [Hz].
        self.frame_rate = config.rate
        #: Whether a pause ends when the last tab is closed; else the simulation waits for another one.
        self.ends_with_tabs = False
        self._hand, self._pace = Hand(), Pace(config.speed)
        self._simulation: Stepped | None = None
        self._next_status = -math.inf

    @hookimpl
    def bind(self, simulation: Any) -> None:
        """Start the server of the page.

        Raises:
            PluginError: viser is not installed.
            ConfigError: The port is in use, or a key names what the simulation does not have.
        """
        import_library("viser", "viser")
        worlds = self.config.worlds_of(simulation.world_count)
        self._worlds: Sequence[int] = worlds.tolist()
        self._open(simulation, free_port(self.config.port, "port"))

    def _open(self, simulation: Stepped, port: int) -> None:
        from .controls import Controls
        from .page import Page
        from .plots import Plots
        from .sliders import add_sliders
        from .status import Status

        self._page = Page(simulation, self._worlds, port, "Pippin")
        #: The browsers that have the page open.
        self.audience = Audience(self._page.client_count)
        try:
            self._status = Status(self._page)
            self._controls = Controls(self._page, simulation, self._worlds, self._pace, self._hand)
            self._sliders = add_sliders(
                self.config.sliders, self._page, simulation, self._controls, self._hand, "sliders"
            )
            self._plots = Plots(self.config.plots, self._page, simulation, self._controls, self._hand, "plots")
        except BaseException:
            self._page.close()
            raise
        self._simulation = simulation

    @property
    def url(self) -> str:
        """Address of the page."""
        return self._page.url

    @property
    def notes(self) -> list[str]:
        """A phrase if a user reset worlds or wrote targets on the page."""
        return self._hand.notes()

    def wants_frame(self) -> bool:
        """Tell whether a browser has the page open."""
        return bool(self.audience.count) or self._hand.is_waiting

    def wait_time(self) -> float:
        """Do what a user asked for, and return the time until the next step [s], `inf` while the page pauses."""
        self._hand.act()
        if not self._controls.takes_step():
            return 0.0 if self.ends_with_tabs and self.audience.has_left() else math.inf
        if self._controls.is_paused or self._simulation is None:
            return 0.0
        return self._pace.wait_time(self._simulation.time)

    @hookimpl
    def frame(self, simulation: Any, time: float) -> None:
        """Send the state to the browsers."""
        with WARP_LOCK:
            self._hand.act()
            if clock.perf_counter() >= self._next_status:
                self._next_status = clock.perf_counter() + _STATUS_PERIOD
                self._status.show(simulation, is_paused=self._controls.is_paused)
                for sliders in self._sliders:
                    sliders.follow()
            self._plots.follow()
            self._page.show(simulation, time)

    def pause(self, is_paused: bool = True) -> None:
        """Pause the simulation, or let it go on, as the page does."""
        self._controls.pause(is_paused)

    def tell_fault(self, fault: str) -> None:
        """Show what went wrong on the page; an empty text takes it away."""
        self._status.fault = fault

    @hookimpl
    def close(self) -> None:
        """Stop the server; with `keep_open`, only after Ctrl-C."""
        if self._simulation is None:
            return
        try:
            if self.config.keep_open and sys.stdin is not None and sys.stdin.isatty():
                self._serve(self._simulation)
        finally:
            self._simulation = None
            self._page.close()

    def _serve(self, simulation: Stepped) -> None:
        _LOGGER.warning("the page stays open at %s; press Ctrl-C to close it", self.url)
        try:
            while True:
                self._page.show(simulation, simulation.time)
                clock.sleep(1.0 / self.config.rate)
        except KeyboardInterrupt:
            return
