"""The least-squares problem of a fit: logs in windows, rollouts of candidates, their residuals, and the unknowns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import comb
from typing import Literal

import attrs
import numpy as np
from pippin import ConfigError, Simulation, SimulationConfig

from pippin_fit.config import FitConfig

from .body_parameters import BodyNumbers
from .candidates import JUDGED, Candidates, FitMaterial
from .checks import refuse_faults, say_faults
from .least_squares import DAMPINGS
from .log import Window, divide, read_logs, robot_joints, velocities_of
from .parameter_kinds import find_parameters, refuse_unclear
from .parameters import FitParameter, SignalParameter, Unknowns, parts_of
from .replay_checks import contact_faults

_LEAST_NOISE = 1e-6
"""Smallest standard deviation of a channel, as a share of its range: single precision has no better."""

_START_STEP = 1e-3
"""Step of a derivative by a start, as a share of the range of the signal."""

_ORDERS = range(2, 9)
"""Orders of the differences from which the noise of a signal is estimated."""

_STILL_FALLS = 0.9
"""Ratio of two estimates of noise below which the higher order has less of the motion in it."""


def noise_of(measured: Sequence[np.ndarray]) -> np.ndarray:
    """Return the standard deviation of white noise of signals, shape [joints], from differences of neighbours in logs,
    shape [samples, joints] each.

    Differences of order k of white noise have the variance σ² (2k)!/k!² (von Neumann 1941 for k = 1), and a motion is
    the less in them the higher the order is. The first order counts of which the next one finds no less. Medians of
    absolute deviations are blind to impacts.
    """
    found = np.full(measured[0].shape[1], np.inf)
    is_open = np.ones(len(found), dtype=bool)
    for order in _ORDERS:
        own = [np.diff(each, n=order, axis=0) for each in measured if len(each) > order]
        if not own:
            break
        rows = np.concatenate(own)
        spread = np.median(np.abs(rows - np.median(rows, axis=0)), axis=0) / 0.6745 / np.sqrt(comb(2 * order, order))
        is_open &= spread < _STILL_FALLS * found
        found = np.where(is_open, spread, found)
    return np.where(np.isfinite(found), found, 0.0)


@attrs.frozen(kw_only=True, eq=False)
class _Part:
    """Windows that are simulated for the same candidates, and where the samples of all of them are in a rollout."""

    windows: tuple[Window, ...]

    first: int
    """The first world of the first candidate."""

    candidates: int

    window_of: np.ndarray
    """The window of each sample, shape [samples]."""

    before: np.ndarray
    """The control step before each sample, shape [samples]."""

    share: np.ndarray
    """The share of the way to the next control step, shape [samples]."""

    measured: Mapping[str, np.ndarray]
    """The measured signals, shape [samples, joints]."""

    @property
    def slices(self) -> Iterator[tuple[Window, slice]]:
        """Yield each window and its samples."""
        ends = np.cumsum([len(window.samples) for window in self.windows])
        for window, end in zip(self.windows, ends.tolist(), strict=True):
            yield window, slice(end - len(window.samples), end)


class Rollouts:
    """The residuals of candidates: differences of simulated and measured signals, divided by their noise."""

    def __init__(self, material: FitMaterial, count: int) -> None:
        self._material, self._logs, self._config = material, material.logs, material.table
        self._joints = len(self._logs[0].joints)
        #: Rollouts so far.
        self.count: int = 0
        kinds = self._config.signals or dict.fromkeys(self._logs[0].signals)
        #: Standard deviation of the noise of each joint, shape [joints], by signal.
        self.noise: Mapping[str, np.ndarray] = {kind: self._noise_of(kind, self._config) for kind in kinds}
        #: Rows of residuals of a sample: its channels.
        self.width: int = len(self.noise) * self._joints
        fitted, judging = material.windows
        #: The windows that are fitted, and the windows of the validation.
        self.parts: tuple[_Part, _Part] = (
            self._part(fitted, 0, count),
            self._part(judging, len(fitted) * count, JUDGED),
        )
        ranks = [np.repeat(np.arange(part.candidates), len(part.windows)) for part in self.parts]
        self._candidate_of = np.concatenate(ranks)
        self._offset = np.zeros((len(self._candidate_of), self._joints))
        self._motion: Mapping[str, np.ndarray] = {}
        self._simulated = 0
        #: The worlds, the simulation of those of this process, and the parameters that vary.
        self.candidates: Candidates = Candidates(material, count)
        self.simulation: Simulation = self.candidates.simulation
        self.parameters: tuple[FitParameter, ...] = self.candidates.parameters

    def close(self) -> None:
        """Close the simulations."""
        self.candidates.close()

    def _noise_of(self, kind: str, config: FitConfig) -> np.ndarray:
        measured = [log.signals[kind] for log in self._logs if not log.is_unseen]
        table = config.signals.get(kind)  # pyrefly: ignore[bad-argument-type]
        if table is not None and table.std is not None:
            return np.full(measured[0].shape[1], table.std)
        range_ = np.max([np.ptp(each, axis=0) for each in measured], axis=0)
        return np.maximum(noise_of(measured), np.maximum(_LEAST_NOISE * range_, 1e-9))

    def _part(self, windows: Sequence[Window], first: int, candidates: int) -> _Part:
        places = [np.zeros(0)]
        for window in windows:
            times = self._logs[window.log].times
            places.append((times[window.samples] - times[window.first]) / self._material.control_dt)
        place = np.concatenate(places)
        before = np.clip(np.floor(place + 1e-6).astype(int), 0, self._material.steps - 1)
        empty = np.zeros((0, self._joints))
        return _Part(
            windows=tuple(windows),
            first=first,
            candidates=candidates,
            window_of=np.repeat(np.arange(len(windows)), [len(window.samples) for window in windows]),
            before=before,
            share=np.clip(place - before, 0.0, 1.0),
            measured={
                kind: np.concatenate([empty, *(self._logs[own.log].signals[kind][own.samples] for own in windows)])
                for kind in self.noise
            },
        )

    def channels_of_states(self) -> np.ndarray:
        """Return the channel of each number of a start, shape [2 * joints]: as its measurement, or one more."""
        kinds, joints = list(self.noise), np.arange(self._joints)
        return np.concatenate(
            [
                kinds.index(kind) * self._joints + joints if kind in kinds else np.full_like(joints, self.width)
                for kind in ("position", "velocity")
            ]
        )

    def state_scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the noise of the measured starts, positions then velocities, and a step of each in units of it."""
        position = self._noise_of("position", self._config)
        if "velocity" in self._logs[0].signals:
            velocity = self._noise_of("velocity", self._config)
        else:  # differences of positions
            velocity = 2.0 * position / self._logs[0].period
        ranges = [
            np.max([np.ptp(each, axis=0) for each in rates], axis=0)
            for rates in ([log.signals["position"] for log in self._logs], [velocities_of(log) for log in self._logs])
        ]
        scales = np.concatenate([position, velocity])
        return scales, np.maximum(3.0, _START_STEP * np.concatenate(ranges) / scales)

    def roll_out(
        self,
        values: np.ndarray,
        watch: Callable[[], None] | None = None,
        shifts: np.ndarray | None = None,
        unseen: np.ndarray | None = None,
    ) -> None:
        """Simulate candidates with values of all parameters, shape [candidates, values], over all windows that are
        fitted, and the first ones over the windows of the validation.

        Shifts of the measured starts have the shape [candidates, windows, states] in the windows that are fitted, and
        [`JUDGED`, windows, states] in the others. `watch` is called after each control step.
        """
        is_asked = self._candidate_of < len(values)
        rows = values[np.where(is_asked, self._candidate_of, 0)]
        self._offset = np.zeros((len(rows), self._joints))
        for parameter, own in zip(self.parameters, parts_of(rows, self.parameters), strict=True):
            if isinstance(parameter, SignalParameter) and parameter.name == "offset":
                self._offset = parameter.of_joints(own)
        of_worlds = np.zeros((len(rows), 2 * self._joints))
        if shifts is not None:
            of_worlds[: shifts.shape[0] * shifts.shape[1]] = shifts.reshape(-1, shifts.shape[2])
        if unseen is not None:
            of_worlds[self.parts[1].first :] = unseen.reshape(-1, unseen.shape[2])
        self._motion, self._simulated = self.candidates.play(rows, of_worlds, is_asked, watch), len(values)
        self.count += 1

    def evaluate(
        self, values: np.ndarray, means: np.ndarray, weights: np.ndarray, shifts: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the residuals of candidates after a rollout, shape [candidates, rows]: of the samples, then of the
        priors, a row for each value.

        Priors have means and weights, the inverse of their variance, which is 0 without one, shape [values]. Values and
        shifts are those of `roll_out`.
        """
        self.roll_out(values, shifts=shifts)
        own = self.residuals(self.parts[0])
        return np.concatenate([own, (values - means) * np.sqrt(weights)], axis=1)

    def signals(self, part: _Part) -> dict[str, np.ndarray]:
        """Return the signals of the last rollout at the samples of some windows, shape [candidates, samples, joints]
        each.
        """
        candidates = np.arange(min(self._simulated, part.candidates))[:, None]
        worlds = part.first + candidates * len(part.windows) + part.window_of
        found = {}
        for kind in self.noise:
            motion = self._motion[kind]
            earlier, later = motion[part.before, worlds], motion[part.before + 1, worlds]
            found[kind] = (earlier + part.share[:, None] * (later - earlier)).astype(float)
            if kind == "position":
                found[kind] += self._offset[worlds]
        return found

    def residuals(self, part: _Part) -> np.ndarray:
        """Return the differences of the last rollout from the measurements of some windows, divided by the noise, shape
        [candidates, rows]: the samples of one window after the other, of each the signals of all joints.
        """
        differences = [(values - part.measured[kind]) / self.noise[kind] for kind, values in self.signals(part).items()]
        return np.concatenate(differences, axis=2).reshape(len(differences[0]), -1)


class FitProblem:
    """The residuals of a fit as a function of its unknowns; the table `[fit]` may have other logs than the file."""

    def __init__(
        self, config: SimulationConfig, table: FitConfig, files: Sequence[str], processes: int | Literal["auto"] = 1
    ) -> None:
        if not config.scene.has_equal_worlds:
            raise ConfigError(
                "fit: the worlds of the file differ, and a robot has one log; leave 'worlds' of assets out"
            )
        scene = attrs.evolve(config.scene, worlds=1, first_world=0, total_worlds=None, settable_joints=True)
        # An episode that ends would reset a world in the middle of its window.
        config = attrs.evolve(config.with_tables(task=None, policy=None), scene=scene)
        with Simulation(config) as simulation:
            joints = robot_joints(simulation.model)
            logs = read_logs(files, table, joints)
            refuse_unclear(table, [log.name for log in logs])
            refuse_faults(logs, table, joints)
            say_faults(list(contact_faults(simulation.model, logs, joints, table)), table)
            if any(log.joints != logs[0].joints for log in logs):
                raise ConfigError("fit.logs: the logs have different joints, or in another order; give all the same")
            for log in logs:
                if missing := sorted((table.signals or logs[0].signals).keys() - log.signals.keys()):
                    raise ConfigError(f"fit.signals: {log.name} has no {missing[0]}; name signals that all logs have")
            windows, steps = divide(logs, table, simulation.control_dt)
            parameters = find_parameters(table, simulation, logs[0].joints, BodyNumbers(simulation))
            count, dt = len(Unknowns(parameters).start), simulation.control_dt
        #: The table `[fit]`, and the logs.
        self.table, self.logs = table, logs
        #: What all worlds are made of.
        self.material: FitMaterial = FitMaterial(
            config=config, table=table, logs=logs, windows=windows, steps=steps, control_dt=dt, processes=processes
        )
        #: Points of an iteration of the least squares: a proposal, its neighbours, and the other dampings.
        self.slot: int = count + len(DAMPINGS)
        states = 2 * len(logs[0].joints) if table.start == "estimated" else 0
        #: The simulation of the least squares.
        self.rollouts: Rollouts = Rollouts(self.material, self.slot + states)
        #: Number of residuals of the samples that are fitted.
        self.sample_rows: int = len(self.rollouts.parts[0].window_of) * self.rollouts.width
        self.unknowns: Unknowns = Unknowns(self.rollouts.parameters)

    def close(self) -> None:
        """Close the simulations."""
        self.rollouts.close()

    def logs_of_rows(self) -> np.ndarray:
        """Return the index of the log of each residual that is fitted, shape [rows]."""
        part = self.rollouts.parts[0]
        return np.repeat(np.array([window.log for window in part.windows])[part.window_of], self.rollouts.width)
