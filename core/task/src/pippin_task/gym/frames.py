"""Frames of an environment: an image of each world, with a camera that follows its robot."""

from __future__ import annotations

import numpy as np
from pippin import Simulation
from pippin.rendering import Cameras, Renderer, Tiles

_SIZE = (320, 240)
"""Width and height of an image [pixels]."""


class Frames:
    """Images of all worlds, from cameras at a distance that the first state gives."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        worlds = np.arange(simulation.world_count)
        layout = Tiles.stacked(len(worlds), _SIZE)
        self._cameras = Cameras(None, simulation, worlds, layout.width / layout.height)
        self._renderer = Renderer(simulation.model, worlds, layout, self._cameras.fov, self._cameras.scale)

    def draw(self) -> tuple[np.ndarray, ...]:
        """Return the image of each world, shape [height, width, 3], from 0 to 255."""
        state = self._simulation.state
        image = self._renderer.render(state, self._cameras.poses(state, self._simulation.time))
        return tuple(image.reshape(-1, *_SIZE[::-1], 3).copy())
