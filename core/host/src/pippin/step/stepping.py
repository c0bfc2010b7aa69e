"""The loop of control steps, and the calls of the simulation that are refused while another one runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pippin.binding import Host, closed
from pippin.errors import SimulationError
from pippin.validators import whole_number

from .current_program import CurrentProgram
from .host_schedule import HostSchedule

_ALONE = ("step", "rollout", "close")
"""Calls that stand outside of `step`; the others may also stand between two of its control steps."""


class Stepping:
    """The call of the simulation that runs now, from whose hooks and callbacks others are refused."""

    def __init__(self) -> None:
        self._running: str | None = None
        self._is_between = False

    def refuse(self, where: str, *, is_closed: bool) -> None:
        """Refuse a call of the simulation after its end, or in the middle of another call.

        Raises:
            SimulationError: Names the call, and the one that runs.
        """
        if is_closed:
            raise SimulationError(closed(where))
        if self._running is not None and (where in _ALONE or not self._is_between):
            cure = "call it after it" if where in _ALONE else "call it between control steps, as in 'after_step'"
            raise SimulationError(f"{where}: called in the middle of {self._running}, by a hook or callback; {cure}")

    @contextmanager
    def during(self, call: str) -> Iterator[None]:
        """Refuse other calls of the simulation within a block."""
        before = self._running, self._is_between
        self._running, self._is_between = call, False
        try:
            yield
        finally:
            self._running, self._is_between = before

    def step(self, simulation: Host, count: int, current: CurrentProgram, schedule: HostSchedule) -> None:
        """Take control steps, and between them call everybody who is due."""
        left = whole_number(count, "step", error=SimulationError)
        with self.during("step"):
            while left:
                self._is_between = True
                stride = schedule.wait(left)
                self._is_between = False
                program = current.prepare()
                # If nothing runs on the host, all steps are one loop: this saves a percent of the time of small scenes.
                stride = stride if program.leaves_host_alone else 1
                try:
                    program.step(stride, done=simulation.step_count)
                finally:
                    simulation.step_count += program.taken
                left -= stride
                self._is_between = True
                schedule.observe(stride, simulation)
