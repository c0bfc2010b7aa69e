"""The built-in functions of time: between values at some times, a formula, and random values."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
import warp as wp
from pippin import Binding, ConfigError, hookimpl
from pippin.objects import read_table

from .configs import Value, numbers_of
from .kernels import draw_values, follow_law, interpolate
from .motion import Motion

_WAYS = ("linear", "smooth", "step")


class Sampled(Motion):
    """A motion between values at some times."""

    @abc.abstractmethod
    def samples(self) -> np.ndarray:
        """Return the rows: a time [s], and the components of the value; shape [rows, 1 + components]."""

    def build(self, binding: Binding, element_count: int) -> int:
        """Copy the samples to the device; return the number of components.

        Args:
            binding: The binding of the motion.
            element_count: Number of moved elements.

        Raises:
            ConfigError: A motion that repeats is shorter than an evaluation, or a quaternion is no unit quaternion.
        """
        rows = self.samples()
        self._are_poses = rows.shape[1] == 8 and not self.config.is_scalar
        if self._are_poses:
            rows[:, 4:] /= _lengths(rows[:, 4:], "values" if hasattr(self.config, "values") else "path")
        device = binding.simulation.device
        self._keys = wp.array(rows[:, 0], dtype=wp.float64, device=device)
        self._samples = wp.array(rows[:, 1:], dtype=float, device=device)
        self.cycle = float(rows[-1, 0]) if self.config.repeat else 0.0
        if self.config.repeat and self.cycle < (shortest := _interval(self.config, binding)) * (1.0 - 1e-6):
            raise ConfigError(
                f"repeat: begins again after {self.cycle:g} s, less than the {shortest:g} s from one evaluation to the"
                " next; use later times, or leave it out"
            )
        is_way = self.config.interpolation != "step" and not self.config.repeat
        self.lead = float(rows[0, 0]) if is_way else 0.0
        return rows.shape[1] - 1

    def evaluate(self) -> None:
        """Interpolate."""
        way = _WAYS.index(self.config.interpolation)
        inputs = [self.times, self._keys, self._samples, way, self._are_poses, self.values, self.rates]
        wp.launch(interpolate, len(self.times), inputs, device=self.times.device)


class Keyframes(Sampled):
    """Values at some times, in the table itself."""

    def samples(self) -> np.ndarray:
        """Return the rows of the table."""
        config = self.config
        return np.array([[time, *numbers_of(value)] for time, value in zip(config.times, config.values, strict=True)])


class FileMotion(Sampled):
    """Values at some times, from a file of numbers."""

    def samples(self) -> np.ndarray:
        """Return the rows of the file."""
        config = self.config
        rows = read_table(config.path, "path")
        if config.columns is not None:
            wrong = [number for number in config.columns if not 0 < number < rows.shape[1]]
            if wrong:
                raise ConfigError(
                    f"columns: {wrong[0]}, but the file has columns 0 to {rows.shape[1] - 1}, and column 0 is"
                    " the time; name others"
                )
            rows = rows[:, (0, *config.columns)]
        steps = np.diff(rows[:, 0], prepend=-np.finfo(float).tiny)
        if rows.shape[1] < 2 or (steps <= 0.0).any():
            raise ConfigError(
                f"path: {config.path!r} must hold times that ascend from 0 in column 0, and values in the others"
            )
        return rows


class FormulaMotion(Motion):
    """A sum of a mean, a constant rate and a sine, as far as the table has them."""

    def build(self, binding: Binding, element_count: int) -> int:
        """Copy the numbers of each component to the device."""
        names = ("mean", "rate", "amplitude", "frequency", "phase")
        rows = together({name: getattr(self.config, name, 0.0) for name in names})
        highest = 0.5 / _interval(self.config, binding)
        if rows[0, 3] > highest * (1.0 + 1e-6):
            raise ConfigError(
                f"frequency: {rows[0, 3]:g} Hz is above {highest:g} Hz, half the rate of evaluations, so that another"
                " sine would be seen; use less, or shorter steps"
            )
        self._laws = wp.array(rows, dtype=wp.float64, device=binding.simulation.device)
        return len(rows)

    def evaluate(self) -> None:
        """Evaluate the sum."""
        inputs = [self.times, self._laws, self.values, self.rates]
        wp.launch(follow_law, self.values.shape, inputs, device=self.times.device)


class RandomMotion(Motion):
    """Uniform random values of each component."""

    def build(self, binding: Binding, element_count: int) -> int:
        """Copy the bounds to the device; where a value is a number, each element has its own."""
        config, host = self.config, binding.simulation
        rows = together({"low": config.low, "high": config.high})
        if (rows[:, 0] > rows[:, 1]).any():
            raise ConfigError(f"low: {config.low} is above 'high', {config.high}; exchange them")
        shortest = _interval(config, binding)
        if config.period and config.period < shortest * (1.0 - 1e-6):
            raise ConfigError(
                f"period: {config.period:g} s is below the {shortest:g} s from one evaluation to the next; use more"
            )
        if len(rows) == 1:
            rows = np.repeat(rows, element_count if config.is_scalar else 3, axis=0)
        self._bounds = wp.array(rows, dtype=float, device=host.device)
        self._period = config.period or host.control_dt
        self._draws = host.seeds.draws(binding.label)
        self._draws.counts.fill_(1)  # as after a reset, which counts
        return len(rows)

    @hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Draw other values than before, from the start of the masked worlds on; mask of shape [world_count + 1]."""
        self._draws.advance(world_mask)

    def evaluate(self) -> None:
        """Draw, in each period."""
        inputs = [self.times, self._period, *self._draws.arguments, self._bounds, self.values]
        wp.launch(draw_values, len(self.times), inputs, device=self.times.device)


def _interval(config: Any, binding: Binding) -> float:
    """Return the time from one evaluation of a motion to the next [s]: a substep, or, of targets, a control step."""
    options = binding.simulation.config.simulation
    return options.control_dt if config.subject in ("actuator", "goal_of") else options.solver_dt


def _lengths(quaternions: np.ndarray, key: str) -> np.ndarray:
    """Return the length of each quaternion, shape [rows, 1]; refuse those that are not about 1."""
    lengths = np.linalg.norm(quaternions, axis=1, keepdims=True)
    wrong = np.flatnonzero(~(np.abs(lengths[:, 0] - 1.0) < 1e-3))
    if wrong.size:
        raise ConfigError(
            f"{key}: the quaternion of row {wrong[0]}, {quaternions[wrong[0]].tolist()}, has length"
            f" {lengths[wrong[0], 0]:.4g}, not 1; give (x, y, z, qx, qy, qz, qw) with a unit quaternion"
        )
    return lengths


def together(values: dict[str, Value]) -> np.ndarray:
    """Return the components of several values as rows, shape [components, values]; a number counts for each of them."""
    parts = {name: numbers_of(value) for name, value in values.items()}
    width = max(map(len, parts.values()))
    for name, part in parts.items():
        if len(part) not in (1, width):
            raise ConfigError(f"{name}: has {len(part)} components, and others have {width}; give it one or {width}")
    return np.stack([np.broadcast_to(part, width) for part in parts.values()], axis=1)
