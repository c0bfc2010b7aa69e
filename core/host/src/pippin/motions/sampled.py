"""Motions between values at some times: keyframes, and rows of a file."""

from __future__ import annotations

import abc

import numpy as np
import warp as wp
from pippin import Binding, ConfigError
from pippin.objects import read_table

from .configs import numbers_of
from .kernels import interpolate
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
        """
        rows = self.samples()
        if rows.shape[1] == 8:
            rows[:, 4:] /= np.linalg.norm(rows[:, 4:], axis=1, keepdims=True)
        device = binding.simulation.device
        self._keys = wp.array(rows[:, 0], dtype=float, device=device)
        self._samples = wp.array(rows[:, 1:], dtype=float, device=device)
        self.cycle = float(rows[-1, 0]) if self.config.repeat else 0.0
        is_way = self.config.interpolation != "step" and not self.config.repeat
        self.lead = float(rows[0, 0]) if is_way else 0.0
        return rows.shape[1] - 1

    def evaluate(self) -> None:
        """Interpolate."""
        way = _WAYS.index(self.config.interpolation)
        inputs = [self.times, self._keys, self._samples, way, self.values, self.rates]
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
