"""Patches that are a field of heights: slopes, rough ground and waves."""

from __future__ import annotations

import math

import numpy as np
from pippin import ConfigError

from .configs import RoughConfig, SlopeConfig, WavesConfig, at
from .ground import Ground
from .patch import Patch

Size = tuple[float, float]


class Slope(Patch):
    """The patch `slope`."""

    config: SlopeConfig
    _sign = 1.0

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return gradient × distance from the border, at most that of the platform's edge."""
        config = self.config
        run = (min(size) - config.platform) / 2.0 - config.border
        if run <= 0.0:
            raise ConfigError(
                f"platform: {config.platform:g} m leave no slope in a patch of {min(size):g} m with a border of"
                f" {config.border:g} m; make it smaller, or raise scene.terrain.size"
            )
        x, y = _points(size, config.resolution)
        distance = np.minimum(size[0] / 2.0 - np.abs(x), size[1] / 2.0 - np.abs(y)) - config.border
        return Ground(heights=self._sign * at(config.gradient, difficulty) * np.clip(distance, 0.0, run))


class SlopeDown(Slope):
    """The patch `slope-down`."""

    _sign = -1.0


class Rough(Patch):
    """The patch `rough`."""

    config: RoughConfig

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return random multiples of the step on a coarse grid, and what lies between them."""
        config = self.config
        highest = int(at(config.height, difficulty) / config.step + 1e-9)
        columns, rows = (math.ceil(length / config.spacing - 1e-9) + 1 for length in size)
        coarse = random.integers(0, highest, size=(rows, columns), endpoint=True) * config.step
        x, y = _points(size, config.resolution)
        return Ground(heights=Ground(heights=coarse).height(x, y, size))


class Waves(Patch):
    """The patch `waves`."""

    config: WavesConfig

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return a sine along x and one along y."""
        x, y = _points(size, self.config.resolution)
        turns = 2.0 * math.pi * self.config.count
        waves = np.sin(turns * x / size[0]) + np.sin(turns * y / size[1])
        return Ground(heights=at(self.config.amplitude, difficulty) / 2.0 * waves)


def _points(size: Size, resolution: float) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of evenly spaced points from edge to edge [m], shape [rows, columns] each."""
    counts = [max(1, math.ceil(length / resolution - 1e-9)) + 1 for length in size]
    axes = (np.linspace(-length / 2.0, length / 2.0, count) for length, count in zip(size, counts, strict=True))
    x, y = np.meshgrid(*axes)
    return x, y
