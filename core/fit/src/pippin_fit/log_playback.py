"""The worlds of a process: a simulation of candidates × windows, whose parameters change between rollouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs
import numpy as np
from pippin import Simulation, SimulationConfig

from pippin_fit.config import FitConfig

from .body_parameters import BodyNumbers
from .fixed_parameters import set_fixed_parameters
from .log import Log
from .log_player import LogPlayer
from .open_loop import OpenLoopRollout
from .parameter_kinds import by_signal, find_parameters
from .parameters import FitParameter
from .windows import Window


@attrs.frozen(kw_only=True, eq=False)
class FitMaterial:
    """File and logs of a fit, in windows."""

    config: SimulationConfig
    """The configuration, with one world."""

    table: FitConfig
    """The table `[fit]`."""

    logs: Sequence[Log]

    windows: Sequence[Window]

    steps: int
    """Control steps of the longest window."""

    control_dt: float
    """Length of a control step [s]."""


class LogPlayback:
    """A simulation whose worlds play windows of logs."""

    def __init__(self, config: SimulationConfig, material: FitMaterial, windows: Sequence[Window]) -> None:
        self._steps = material.steps
        self._player = LogPlayer(material.table, material.logs, windows, material.steps)
        self.simulation: Simulation = Simulation(config, plugins={"log": self._player})
        bodies = BodyNumbers(self.simulation)
        self.parameters: tuple[FitParameter, ...] = find_parameters(
            material.table, self.simulation, self._player.joints, bodies
        )
        names = [material.logs[window.log].name for window in windows]
        set_fixed_parameters(material.table, names, self.simulation, bodies)
        self._open_loop: OpenLoopRollout | None = None

    def play(
        self, values: np.ndarray, shifts: np.ndarray, is_asked: np.ndarray, watch: Callable[[], None] | None = None
    ) -> Mapping[str, np.ndarray]:
        """Return `position` and `velocity` of the joints, shape [steps + 1, worlds, joints], after a rollout.

        Args:
            values: The values of all parameters, shape [worlds, values].
            shifts: Shifts of the measured positions at the start, then of the velocities, shape [worlds, 2 * joints].
            is_asked: Whether the motion of a world is read; the others may stay where they are. Shape [worlds].
            watch: Called after each control step.
        """
        first = 0
        for parameter in self.parameters:
            parameter.write(values[:, first : first + parameter.count])
            first += parameter.count
        signals, joints = by_signal(self.parameters), len(self._player.joints)
        offsets = signals["offset"].present if "offset" in signals else np.zeros((len(values), joints))
        delays = signals["delay"].present[:, 0] if "delay" in signals else np.zeros(len(values))
        self._player.vary(delays, offsets, shifts)
        if self._open_loop is None:  # the first step records and checks the operations
            self.simulation.reset()
            self.simulation.step()
            self._open_loop = OpenLoopRollout(self.simulation, self._player.count_step)
        self.simulation.reset()
        self._player.fill_delays()
        worlds = np.flatnonzero(is_asked)
        if watch is None and (found := self._open_loop.take(self._steps, worlds)) is not None:
            self._player.motion.keep_rollout(worlds, *found)
            return self._player.motion.arrays()
        for count in [self._steps] if watch is None else [1] * self._steps:
            self.simulation.step(count)
            if watch is not None:
                watch()
        return self._player.motion.arrays()

    def close(self) -> None:
        """Close the simulation."""
        self.simulation.close()
