"""Ridges, as patches of Pippin's terrain."""

import numpy as np
from pippin.terrains import Ground, Patch


class TerrainDemo(Patch):
    """The patch `demo`: ridges along y, whose height is that of a sine along x, squared."""

    def ground(self, size, difficulty, random):
        """Return the heights at points that are 5 cm apart, rows along y and columns along x."""
        easy, hard = self.config.height
        x = np.linspace(-size[0] / 2, size[0] / 2, round(size[0] / 0.05) + 1)
        ridges = np.sin(np.pi * x / self.config.distance) ** 2
        return Ground(heights=(easy + difficulty * (hard - easy)) * np.tile(ridges, (2, 1)))
