"""Controls of a page: pause, step, reset, worlds, speed, and what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from .marks import ContactMarks, Names
from .pacing import Pace
from .page import Page
from .playback import ViewedSimulation
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

    def __init__(
        self,
        page: Page,
        shown: ViewedSimulation,
        worlds: Sequence[int],
        pace: Pace,
        user_input: UserInput,
        *,
        is_recorded: bool,
    ) -> None:
        #: Whether the simulation is paused.
        self.is_paused = False
        #: The chosen worlds.
        self.worlds = list(worlds)
        self._page, self._shown, self._pace, self._user_input = page, shown, pace, user_input
        self._all, self._is_step_requested = list(worlds), False
        #: Simulated time of the last reset of all worlds [s].
        self.start = 0.0
        with page.server.gui.add_folder("Simulation", order=1.0):
            self._add_run_controls()
            self._add_worlds()
            self._add_speed()
        self._reset_this.visible = len(worlds) > 1 and not is_recorded
        #: The names that are drawn.
        self.names = Names(page, shown)
        self._marks: ContactMarks | None = None
        with page.server.gui.add_folder("Show", order=10.0):
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
        self._step.on_click(queued(self._request_step))
        gui.add_button("Reset", hint="Go back to the start, in all worlds").on_click(queued(lambda _: self.reset(None)))
        self._reset_this = gui.add_button("Reset this world", disabled=True, hint="Choose a world first")
        self._reset_this.on_click(queued(lambda _: self.reset(self.worlds)))

    def _add_worlds(self) -> None:
        if len(self._all) == 1:
            return
        choices = (_ALL, *map(str, self._all))
        world = self._page.server.gui.add_dropdown(
            "World", choices, initial_value=_ALL, hint="The world to show, to plot, to reset and to give targets to"
        )
        world.on_update(self._user_input.queued(self._choose_world))

    def _add_speed(self) -> None:
        speeds = {FASTEST: None, **{_text(speed): speed for speed in sorted({*_SPEEDS, self._pace.speed or 1.0})}}
        present = FASTEST if self._pace.speed is None else _text(self._pace.speed)

        def choose(text: str) -> None:
            self._pace.speed = speeds[text]

        self._page.server.gui.add_dropdown("Speed", tuple(speeds), initial_value=present).on_update(
            self._user_input.queued(choose)
        )

    def _add_contacts(self) -> None:
        gui, contacts, reports = self._page.server.gui, self._shown.contacts, self._shown.observables
        hint = (
            None if contacts is not None else "The solver keeps its contacts to itself; a contact sensor asks for them"
        )
        points = gui.add_checkbox("Contacts", initial_value=False, disabled=contacts is None, hint=hint)
        has_forces = contacts is not None and reports is not None and reports.contact_f is not None
        hint = None if has_forces else 'The solver reports them if `simulation.observables` has "contact_f"'
        forces = gui.add_checkbox("Contact forces", initial_value=False, disabled=not has_forces, hint=hint)

        scale = gui.add_markdown("", visible=False)

        def show(_: Any) -> None:
            marks = self.contact_marks()
            marks.shows_points, marks.shows_forces, scale.visible = points.value, forces.value, forces.value
            scale.content = f"An arrow of {100.0 * marks.scale:.3g} cm is 1 N."

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

    def _request_step(self, _: Any) -> None:
        self._is_step_requested = True

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
