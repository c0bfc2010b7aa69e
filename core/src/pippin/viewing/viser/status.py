"""Status of a simulation in two lines of a page: its time and its state, and how fast its program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pippin.binding import Host

from .pacing import Meter

if TYPE_CHECKING:
    from .page import Page

__all__ = ["Status", "Stepped"]


class Stepped(Host, Protocol):
    """A simulation with a program."""

    program: Any
    """The operations of a control step, which tell whether they are captured; None if a recording is shown."""

    @property
    def first_diverged_step(self) -> int | None:
        """The first control step with a diverged state; None if there is none."""
        ...


class Status:
    """The first and the last line of the panel.

    Args:
        page: The page.
    """

    def __init__(self, page: Page) -> None:
        gui = page.server.gui
        self._state, self._program = gui.add_markdown("", order=0.0), gui.add_markdown("", order=30.0)
        self._meter = Meter()
        #: What went wrong; shown until it is cleared.
        self.fault = ""

    def show(self, simulation: Stepped, *, is_paused: bool) -> None:
        """Write both lines anew.

        Args:
            simulation: The simulation.
            is_paused: Whether it is paused.
        """
        if is_paused:
            self._meter.restart()
        rate = self._meter.look(simulation.step_count)
        self._state.content = self._state_line(simulation, rate, is_paused)
        self._program.content = self._program_line(simulation, rate)

    def _state_line(self, simulation: Stepped, rate: float | None, is_paused: bool) -> str:
        worlds = f"{simulation.world_count} world{'s' * (simulation.world_count > 1)}"
        pace = "paused" if is_paused else "" if rate is None else f"{rate * simulation.control_dt:.3g} × real time"
        line = " · ".join(part for part in (f"**t = {simulation.time:.2f} s**", pace, worlds) if part)
        fault = self.fault
        if not fault and (step := simulation.first_diverged_step) is not None:
            fault = f"diverged in step {step}; Reset starts again"
        return f"{line}\n\n**{fault}**" if fault else line

    @staticmethod
    def _program_line(simulation: Stepped, rate: float | None) -> str:
        config = simulation.config
        if simulation.program is None:
            return "recorded"
        if not simulation.step_count:
            return f"{config.solver.type} · no step yet" if config.solver else "no step yet"
        captured = "captured" if simulation.program.is_captured else "not captured"
        parts = [*([config.solver.type] if config.solver else []), captured]
        if rate is not None:
            steps = rate * simulation.world_count * config.simulation.decimation
            parts.append(f"{steps:,.0f} world-steps/s")
        return " · ".join(parts)
