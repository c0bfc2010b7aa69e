"""Candidates of a fit: worlds that play the windows of logs, in this process and perhaps in others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import attrs
import numpy as np
from pippin import ConfigError, Simulation, SimulationConfig
from pippin.sharding import shard_count, shard_pool, shards_of
from pippin.workers import WorkerPool

from pippin_fit.config import FitConfig

from .body_parameters import BodyNumbers
from .log import Log, Window
from .log_player import LogPlayer, OpenLoopRollout
from .parameter_kinds import find_parameters, set_fixed_parameters
from .parameters import FitParameter, SignalParameter, parts_of


@attrs.frozen(kw_only=True, eq=False)
class FitMaterial:
    """File and logs of a fit, in windows."""

    config: SimulationConfig
    """The configuration, with one world."""

    table: FitConfig
    """The table `[fit]`."""

    logs: Sequence[Log]

    windows: tuple[Sequence[Window], Sequence[Window]]
    """The windows that are fitted, and those that judge the fit, which does not see them."""

    steps: int
    """Control steps of the longest window."""

    control_dt: float
    """Length of a control step [s]."""

    processes: int | Literal["auto"]
    """Number of processes that share the worlds, this one among them; "auto" means as many as there are cores, and 1
    for a solver that uses all cores itself."""


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
        """Return `position` and `velocity` of the joints, shape [steps + 1, worlds, joints], after a rollout with some
        values of all parameters, shape [worlds, values].

        Shifts are of the measured positions at the start, then of the velocities, shape [worlds, 2 * joints]. A world
        that is not asked may stay where it is. `watch` is called after each control step.
        """
        for parameter, own in zip(self.parameters, parts_of(values, self.parameters), strict=True):
            parameter.write(own)
        signals = {each.name: each.present for each in self.parameters if isinstance(each, SignalParameter)}
        offsets = signals.get("offset", np.zeros((len(values), len(self._player.joints))))
        delays = signals.get("delay", np.zeros((len(values), 1)))
        self._player.vary(delays[:, 0], offsets, shifts)
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


JUDGED = 2
"""Candidates that play the windows of the validation: the values of the file, and the ones that were found."""


class Candidates:
    """Simulations whose worlds are candidates × windows to fit, then `JUDGED` × windows of the validation. A world has
    the same bits in any number of processes, which are at most as many as the candidates.
    """

    def __init__(self, material: FitMaterial, count: int) -> None:
        fitted, judging = material.windows
        windows = [*fitted] * count + [*judging] * JUDGED
        config = attrs.evolve(material.config, scene=attrs.evolve(material.config.scene, worlds=len(windows)))
        total = shard_count(config, material.processes)
        if material.processes == "auto":
            total = min(total, count)
        if not 1 <= total <= count:
            raise ConfigError(
                f"processes: expected 1 to {count}, the candidates that are simulated at once, got {total}"
            )
        own, *others = shards_of(config, total)
        self._parts = [(each.worlds.start, each.worlds.stop) for each in (own, *others)]
        playback = LogPlayback(own.config, material, windows[slice(*self._parts[0])])
        #: The worlds of this process.
        self.own: LogPlayback = playback
        self.simulation: Simulation = playback.simulation
        self.parameters: tuple[FitParameter, ...] = playback.parameters
        self._pool: WorkerPool | None = None
        try:
            if others:
                arguments = [(each.config, material, windows[each.worlds.start : each.worlds.stop]) for each in others]
                self._pool = shard_pool(others, LogPlayback, arguments, "give the same command once more: it goes on")
        except BaseException:
            playback.close()
            raise

    def play(
        self, values: np.ndarray, shifts: np.ndarray, is_asked: np.ndarray, watch: Callable[[], None] | None = None
    ) -> Mapping[str, np.ndarray]:
        """Return the motion of the joints of all worlds after a rollout, with the arguments of `LogPlayback.play`;
        `watch` sees the worlds of this process.
        """
        each = (values, shifts, is_asked)
        own, *others = [tuple(numbers[slice(*part)] for numbers in each) for part in self._parts]
        if self._pool is not None:
            self._pool.start_call("play", each=others)
        motions = [self.own.play(*own, watch=watch)]
        if self._pool is not None:
            motions += self._pool.finish()
        return {kind: np.concatenate([motion[kind] for motion in motions], axis=1) for kind in motions[0]}

    def close(self) -> None:
        """Close the simulations, and end the other processes."""
        if self._pool is not None:
            self._pool.close("close")
        self.own.close()
