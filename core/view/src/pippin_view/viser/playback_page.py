"""Page of a recording: the controls of a simulation, and a slider of time."""

from __future__ import annotations

import time as clock
from collections.abc import Callable

from .config import ViserConfig
from .panel import Panel
from .playback import Playback


class PlaybackPage:
    """A page that plays a recording back; a `speed` of None means one row in each frame."""

    def __init__(self, playback: Playback, config: ViserConfig) -> None:
        self._playback, self._rate = playback, config.rate
        #: The page, its controls and its clients.
        self.panel = Panel(playback, playback.worlds, config, is_recorded=True)
        first, last = float(playback.times[0]), float(playback.times[-1])
        self._time, self._last = first, last
        self._slider = self.panel.page.server.gui.add_slider(
            "Time [s]",
            min=first,
            max=max(last, first + playback.control_dt),
            step=playback.control_dt,
            initial_value=first,
            order=0.5,
        )
        self._slider.on_update(self.panel.user_input.queued(self._seek))

    def serve(self, is_over: Callable[[], bool]) -> None:
        """Play until a function returns True; without a browser, nothing moves."""
        last = clock.perf_counter()
        while not is_over():
            now = clock.perf_counter()
            if self.panel.clients.count:
                self._advance(now - last)
                if self.panel.show():
                    self._slider.value = self._playback.time
            last = now
            clock.sleep(max(0.0, now + 1.0 / self._rate - clock.perf_counter()))

    def close(self) -> None:
        """Stop the server."""
        self.panel.page.close()

    def _advance(self, passed: float) -> None:
        """Process the user input, and go to the row of the time that has passed [s]."""
        playback, controls = self._playback, self.panel.controls
        was_paused, row = controls.is_paused, playback.row
        self.panel.user_input.process()
        if playback.row != row:  # a reset
            self._time = playback.time
        if not controls.takes_step():
            return
        if was_paused and not controls.is_paused and playback.is_at_end:
            self._seek(float(playback.times[0]))  # play it again
        speed = self.panel.pace.speed
        if controls.is_paused or speed is None:
            playback.forward()
            self._time = playback.time
        else:
            self._time = min(self._time + passed * speed, self._last)
            playback.seek(self._time)
        if playback.is_at_end and not controls.is_paused:
            controls.pause()

    def _seek(self, time: float) -> None:
        self._time = time
        self._playback.seek(time)
