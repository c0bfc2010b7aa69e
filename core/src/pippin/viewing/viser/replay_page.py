"""Page of a recording: the same controls as of a simulation, and a slider of time."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Any

from .audience import Audience
from .controls import Controls
from .hand import Hand
from .pacing import Pace
from .page import Page
from .ports import free_port
from .replay import Replay
from .status import Status
from .viewer import ViserConfig

__all__ = ["ReplayPage"]

_STATUS_PERIOD = 0.25
"""Time between two changes of the texts on the page [s]."""


class ReplayPage:
    """A page that shows a recording.

    Args:
        replay: The recording.
        config: The settings of the page, with a free port; `speed` None means one row in each frame.
    """

    def __init__(self, replay: Replay, config: ViserConfig) -> None:
        host: Any = replay  # it has what the page reads of a host
        self._replay, self._rate = replay, config.rate
        self._hand, self._pace = Hand(), Pace(config.speed)
        self._page = Page(host, replay.worlds, free_port(config.port, "port"), "Pippin")
        #: The browsers that have the page open.
        self.audience = Audience(self._page.client_count)
        self._status = Status(self._page)
        self._controls = Controls(self._page, host, replay.worlds, self._pace, self._hand, is_recorded=True)
        first, last = float(replay.times[0]), float(replay.times[-1])
        self._time, self._last = first, last
        self._slider = self._page.server.gui.add_slider(
            "Time [s]",
            min=first,
            max=max(last, first + replay.control_dt),
            step=replay.control_dt,
            initial_value=first,
            order=0.5,
        )
        self._slider.on_update(self._hand.later(self._seek))
        self._next_status = 0.0

    @property
    def url(self) -> str:
        """Address of the page."""
        return self._page.url

    def serve(self, is_over: Callable[[], bool]) -> None:
        """Play until a function returns True; without a browser, nothing moves."""
        last = clock.perf_counter()
        while not is_over():
            now = clock.perf_counter()
            if self.audience.count:
                self._advance(now - last)
                self._page.show(self._host, self._replay.time)
                if now >= self._next_status:
                    self._next_status = now + _STATUS_PERIOD
                    self._tell()
            last = now
            clock.sleep(max(0.0, now + 1.0 / self._rate - clock.perf_counter()))

    def close(self) -> None:
        """Stop the server."""
        self._page.close()

    @property
    def _host(self) -> Any:
        return self._replay

    def _advance(self, passed: float) -> None:
        """Do what was asked for, and go to the row of the time that has passed [s]."""
        was_paused, shown = self._controls.is_paused, self._replay.row
        self._hand.act()
        if self._replay.row != shown:  # a reset
            self._time = self._replay.time
        if not self._controls.takes_step():
            return
        if was_paused and not self._controls.is_paused and self._replay.is_at_end:
            self._seek(float(self._replay.times[0]))  # once more
        speed = self._pace.speed
        if self._controls.is_paused or speed is None:
            self._replay.forward()
            self._time = self._replay.time
        else:
            self._time = min(self._time + passed * speed, self._last)
            self._replay.seek(self._time)
        if self._replay.is_at_end and not self._controls.is_paused:
            self._controls.pause()

    def _seek(self, time: float) -> None:
        self._time = time
        self._replay.seek(time)

    def _tell(self) -> None:
        self._status.show(self._host, is_paused=self._controls.is_paused)
        self._slider.value = self._replay.time
