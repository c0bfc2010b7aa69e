"""Status of a simulation in two lines of a page: its time and its state, and how fast its program runs."""

from __future__ import annotations

from .pacing import Meter
from .page import Page
from .playback import ViewedSimulation


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
