"""A page with its panel, its controls and its status: of a simulation, or of a recording with a slider of time."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from pippin.report import Markdown, markdown

from pippin_view.configs import ViserConfig

from .hand import BodyPicker
from .marks import ContactMarks, Names
from .pacing import Meter, Pace
from .page import Page, TextBox
from .playback import Playback, ViewedSimulation
from .ports import free_port
from .user_input import UserInput

FASTEST = "as fast as possible"
"""Choice of a speed without a limit."""

_SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Speeds to choose from [× real time]."""

_ALL = "all"
"""Choice of all worlds of the page."""

_NAMES = (("shows_bodies", "Names of bodies"), ("shows_joints", "Names of joints"))
_SWITCHES = (
    ("show_visual", "Visual shapes"),
    ("show_collision", "Collision shapes"),
    ("show_joints", "Joint axes"),
    ("show_com", "Centres of mass"),
)
"""What can be drawn: attributes of the page, and their names on it."""


class Controls:
    """The buttons and choices of a page. What a user clicks happens in `UserInput.process`.

    A recording has no contacts, and is reset as a whole.
    """

    def __init__(self, panel: Panel, worlds: Sequence[int], *, is_recorded: bool) -> None:
        #: Whether the simulation is paused.
        self.is_paused = False
        #: The chosen worlds.
        self.worlds = list(worlds)
        self._page, self._shown, self._pace, self._user_input = panel.page, panel.shown, panel.pace, panel.user_input
        self._all, self._is_step_requested = list(worlds), False
        #: Simulated time of the last reset of all worlds [s].
        self.start = 0.0
        with panel.page.server.gui.add_folder("Simulation", order=1.0):
            self._add_run_controls()
        self._reset_this.visible = len(worlds) > 1 and not is_recorded
        #: The names that are drawn.
        self.names = Names(panel.page, panel.shown)
        self._marks: ContactMarks | None = None
        with panel.page.server.gui.add_folder("Show", order=10.0):
            if not is_recorded:
                self._add_contacts()
            self._add_switches()

    def takes_step(self) -> bool:
        """Tell whether the simulation may continue; while it is paused, once after each click on Step."""
        is_requested, self._is_step_requested = self._is_step_requested, False
        return not self.is_paused or is_requested

    def pause(self, is_paused: bool = True) -> None:
        """Pause, or continue."""
        self.is_paused, self._is_step_requested = is_paused, False
        self._pace.restart()
        self._pause.value, self._step.disabled = is_paused, not is_paused

    def show_marks(self) -> None:
        """Draw contacts and names into a frame."""
        if self._marks is not None:
            self._marks.show(self.worlds)
        self.names.show(self.worlds[0])

    def darken(self, is_dark: bool) -> None:
        """Make the page dark, or light."""
        self._page.is_dark = self._dark.value = is_dark

    def contact_marks(self) -> ContactMarks:
        """Return the marks of contacts, which are made when they are first asked for."""
        self._marks = self._marks or ContactMarks(self._page, cast(Any, self._shown), self._all)
        return self._marks

    def _add_run_controls(self) -> None:
        gui, queued = self._page.server.gui, self._user_input.queued
        self._pause = gui.add_checkbox("Pause", initial_value=False)
        self._pause.on_update(queued(self.pause))
        self._step = gui.add_button("Step", disabled=True, hint="Take one control step; pause first")
        self._step.on_click(queued(lambda _: setattr(self, "_is_step_requested", True)))
        gui.add_button("Reset", hint="Go back to the start, in all worlds").on_click(queued(lambda _: self.reset(None)))
        self._reset_this = gui.add_button("Reset this world", disabled=True, hint="Choose a world first")
        self._reset_this.on_click(queued(lambda _: self.reset(self.worlds)))
        if len(self._all) > 1:
            choices, hint = (_ALL, *map(str, self._all)), "The world to show, to plot, to reset and to give targets to"
            world = gui.add_dropdown("World", choices, initial_value=_ALL, hint=hint)
            world.on_update(queued(self._choose_world))
        speeds = {FASTEST: None, **{_text(speed): speed for speed in sorted({*_SPEEDS, self._pace.speed or 1.0})}}
        present = FASTEST if self._pace.speed is None else _text(self._pace.speed)
        speed = gui.add_dropdown("Speed", tuple(speeds), initial_value=present)
        speed.on_update(queued(lambda text: setattr(self._pace, "speed", speeds[text])))

    def _add_contacts(self) -> None:
        gui, contacts, reports = self._page.server.gui, self._shown.contacts, self._shown.observables
        own = "The solver keeps its contacts to itself; a contact sensor asks for them"
        hint = own if contacts is None else None
        points = gui.add_checkbox("Contacts", initial_value=False, disabled=contacts is None, hint=hint)
        has_forces = contacts is not None and reports is not None and reports.contact_f is not None
        hint = None if has_forces else 'The solver reports them if `simulation.observables` has "contact_f"'
        forces = gui.add_checkbox("Contact forces", initial_value=False, disabled=not has_forces, hint=hint)

        scale = TextBox(gui.add_markdown, visible=False)

        def show(_: Any) -> None:
            marks = self.contact_marks()
            marks.shows_points, marks.shows_forces = points.value, forces.value
            scale.show(markdown("An arrow of {} cm is 1 N.", f"{100.0 * marks.scale:.3g}"), visible=forces.value)

        for handle in (points, forces):
            handle.on_update(self._user_input.queued(show))

    def _add_switches(self) -> None:
        gui, matter = self._page.server.gui, self._page.matter
        switches: list[tuple[Any, str, str]] = [(self.names, key, name) for key, name in _NAMES]
        switches += [(self._page, key, name) for key, name in _SWITCHES]
        if self._shown.model.particle_count:
            switches.append((matter, "is_shown", "Cloth, soft bodies and grains"))
        for owner, attribute, name in switches:
            hint = "Of the first chosen world" if owner is self.names else None
            handle = gui.add_checkbox(name, initial_value=bool(getattr(owner, attribute)), hint=hint)
            handle.on_update(self._user_input.queued(partial(setattr, owner, attribute)))
        self._dark = gui.add_checkbox("Dark", initial_value=self._page.is_dark)
        self._dark.on_update(self._user_input.queued(self.darken))

    def reset(self, worlds: Sequence[int] | None) -> None:
        """Reset some worlds, or all of them."""
        self._user_input.changes["reset"] += 1
        self._shown.reset(worlds)
        if worlds is None and self._shown.program is not None:
            self.start = self._shown.time

    def _choose_world(self, choice: str) -> None:
        self.worlds = self._all if choice == _ALL else [int(choice)]
        self._reset_this.disabled = choice == _ALL
        self._page.look_at_worlds(self._shown, self.worlds)


def _text(speed: float) -> str:
    return f"{speed:g} × real time"


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
        self.controls = Controls(self, worlds, is_recorded=is_recorded)
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
        self._state, self._named, self._program = (TextBox(gui.add_markdown, order=at) for at in (0.0, 0.2, 30.0))
        self._meter = Meter()
        #: What went wrong; shown until it is cleared.
        self.fault = ""

    def name(self, text: Markdown) -> None:
        """Tell what was clicked."""
        self._named.show(text)

    def show(self, shown: ViewedSimulation, *, is_paused: bool, drawn: int, start: float) -> None:
        """Write both lines anew, with a number of worlds drawn, and the time of the last reset of all worlds [s]."""
        if is_paused:
            self._meter.restart()
        rate = self._meter.look(shown.step_count)
        pace = "paused" if is_paused else "" if rate is None else f"{rate * shown.control_dt:.3g} × real time"
        self._state.show(self._state_line(shown, pace, drawn, start))
        self._program.show(markdown("{}", self._program_line(shown, rate)))

    def _state_line(self, shown: ViewedSimulation, pace: str, drawn: int, start: float) -> Markdown:
        worlds = f"{shown.world_count} world{'s' * (shown.world_count > 1)}"
        worlds = worlds if drawn == shown.world_count else f"{drawn} of {worlds} drawn"
        more = "".join(f" · {part}" for part in (pace, worlds) if part)
        line = markdown("**t = {} s**{}", f"{shown.time - start:.2f}", more)
        fault = self.fault
        if not fault and (step := shown.first_diverged_step) is not None:
            fault = f"diverged in step {step}; Reset starts again"
        return markdown("{}\n\n**{}**", line, fault) if fault else line

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
