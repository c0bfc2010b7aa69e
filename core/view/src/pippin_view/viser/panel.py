"""A page with its panel, its status and its browsers: of a simulation, or of a recording with a slider of time."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from functools import partial

from pippin_view.configs import ViserConfig

from .controls import Controls
from .hand import BodyPicker
from .pacing import Meter, Pace
from .page import Page
from .playback import Playback, ViewedSimulation
from .ports import free_port
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


class Status:
    """The first and the last line of the panel."""

    def __init__(self, page: Page) -> None:
        gui = page.server.gui
        self._state, self._named = gui.add_markdown("", order=0.0), gui.add_markdown("", order=0.2)
        self._program = gui.add_markdown("", order=30.0)
        self._meter = Meter()
        #: What went wrong; shown until it is cleared.
        self.fault = ""

    def name(self, text: str) -> None:
        """Tell what was clicked."""
        if self._named.content != text:
            self._named.content = text

    def show(self, shown: ViewedSimulation, *, is_paused: bool, drawn: int, start: float) -> None:
        """Write both lines anew, with a number of worlds drawn, and the time of the last reset of all worlds [s]."""
        if is_paused:
            self._meter.restart()
        rate = self._meter.look(shown.step_count)
        pace = "paused" if is_paused else "" if rate is None else f"{rate * shown.control_dt:.3g} × real time"
        self._state.content = self._state_line(shown, pace, drawn, start)
        self._program.content = self._program_line(shown, rate)

    def _state_line(self, shown: ViewedSimulation, pace: str, drawn: int, start: float) -> str:
        worlds = f"{shown.world_count} world{'s' * (shown.world_count > 1)}"
        worlds = worlds if drawn == shown.world_count else f"{drawn} of {worlds} drawn"
        line = " · ".join(part for part in (f"**t = {shown.time - start:.2f} s**", pace, worlds) if part)
        fault = self.fault
        if not fault and (step := shown.first_diverged_step) is not None:
            fault = f"diverged in step {step}; Reset starts again"
        return f"{line}\n\n**{fault}**" if fault else line

    @staticmethod
    def _program_line(shown: ViewedSimulation, rate: float | None) -> str:
        config = shown.config
        if shown.program is None:
            return "recorded"
        if not shown.step_count:
            return f"{config.solver.type} · no step yet" if config.solver else "no step yet"
        captured = "captured" if shown.program.is_captured else "not captured"
        parts = [*([config.solver.type] if config.solver else []), captured]
        if rate is not None:
            steps = rate * shown.world_count * config.simulation.decimation
            parts.append(f"{steps:,.0f} world-steps/s")
        return " · ".join(parts)


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
