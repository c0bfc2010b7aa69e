"""Rollouts of a fit: residuals of candidates, each of which is simulated over all windows of the logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from pippin.config.fit import FitConfig
from pippin.simulation import Simulation

from .log import Log
from .log_player import LogPlayer
from .parameter_kinds import by_signal
from .parameters import FitParameter
from .windows import Window

_LEAST_NOISE = 1e-6
"""Smallest standard deviation of a channel, as a share of its range: single precision has no better."""


class Rollouts:
    """The residuals of candidates: differences of simulated and measured signals, divided by their noise.

    Args:
        simulation: The simulation, whose worlds are candidates × windows.
        player: Its plugin that plays the logs.
        config: The table `[fit]`.
        logs: The logs.
        windows: The windows.
        parameters: What varies.
    """

    def __init__(
        self,
        simulation: Simulation,
        player: LogPlayer,
        config: FitConfig,
        logs: Sequence[Log],
        windows: Sequence[Window],
        steps: int,
        parameters: Sequence[FitParameter],
    ) -> None:
        self._simulation, self._player, self._steps = simulation, player, steps
        self._logs, self._windows, self._parameters = logs, windows, parameters
        #: Number of candidates that are simulated at once.
        self.candidates: int = simulation.world_count // len(windows)
        #: Rollouts so far.
        self.count: int = 0
        kinds = config.signals or dict.fromkeys(logs[0].signals)
        #: Standard deviation of the noise of each joint, shape [joints], by signal.
        self.noise: Mapping[str, np.ndarray] = {kind: self._noise_of(kind, config) for kind in kinds}
        self._samples = [self._rows_of(window) for window in windows]

    def _noise_of(self, kind: str, config: FitConfig) -> np.ndarray:
        measured = [log.signals[kind] for log in self._logs]
        table = config.signals.get(kind)  # pyright: ignore[reportArgumentType]  (a name of the table)
        if table is not None and table.std is not None:
            return np.full(measured[0].shape[1], table.std)
        second = np.concatenate([np.diff(each, n=2, axis=0) for each in measured])
        spread = np.median(np.abs(second - np.median(second, axis=0)), axis=0) / 0.6745
        range_ = np.max([np.ptp(each, axis=0) for each in measured], axis=0)
        return np.maximum(spread / np.sqrt(6.0), np.maximum(_LEAST_NOISE * range_, 1e-9))

    def _rows_of(self, window: Window) -> tuple[np.ndarray, np.ndarray]:
        """Return the control step before each sample of a window, and the share of the way to the next one."""
        log = self._logs[window.log]
        place = (log.times[window.samples] - log.times[window.first]) / self._simulation.control_dt
        before = np.clip(np.floor(place + 1e-6).astype(int), 0, self._steps - 1)
        return before, np.clip(place - before, 0.0, 1.0)

    def roll_out(self, values: np.ndarray, watch: Callable[[], None] | None = None) -> list[dict[str, np.ndarray]]:
        """Return the simulated signals at the samples of each window, shape [candidates, samples, joints] each.

        Args:
            values: The values of all parameters, shape [candidates, values].
            watch: Called after each control step.
        """
        windows, count = len(self._windows), len(values)
        padded = np.concatenate([values, np.tile(values[:1], (self.candidates - count, 1))])
        rows = np.repeat(padded, windows, axis=0)
        first = 0
        for parameter in self._parameters:
            parameter.write(rows[:, first : first + parameter.count])
            first += parameter.count
        signals, joints = by_signal(self._parameters), len(self._player.joints)
        offset = signals["offset"].present if "offset" in signals else np.zeros((len(rows), joints))
        delay = signals["delay"].present[:, 0] if "delay" in signals else np.zeros(len(rows))
        self._player.vary(delay, offset)
        self._simulation.reset()
        for count_of_steps in [self._steps] if watch is None else [1] * self._steps:
            self._simulation.step(count_of_steps)
            if watch is not None:
                watch()
        self.count += 1
        motion = self._player.motion()
        found = []
        for number, (before, share) in enumerate(self._samples):
            own = {}
            for kind in self.noise:
                worlds = motion[kind][:, number::windows][:, :count]
                rows_of = worlds[before] + share[:, None, None] * (worlds[before + 1] - worlds[before])
                own[kind] = rows_of.swapaxes(0, 1).astype(float)
                if kind == "position":
                    own[kind] += offset[number::windows][:count, None]
            found.append(own)
        return found

    def measured(self, number: int, kind: str) -> np.ndarray:
        """Return the measured signal at the samples of a window, shape [samples, joints]."""
        window = self._windows[number]
        return self._logs[window.log].signals[kind][window.samples]

    def compare(self, simulated: Sequence[Mapping[str, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the residuals of the windows that are fitted, and of those that validate.

        Args:
            simulated: The signals that `roll_out` returned.

        Returns:
            Differences divided by the noise, shape [candidates, rows] each.
        """
        found: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for number, own in enumerate(simulated):
            for kind, values in own.items():
                differences = (values - self.measured(number, kind)) / self.noise[kind]
                found[self._windows[number].is_validation].append(differences.reshape(len(values), -1))
        empty = np.zeros((len(simulated[0][next(iter(self.noise))]), 0))
        fitted, validating = (np.concatenate(each, axis=1) if each else empty for each in found)
        return fitted, validating
