"""Viewer `usd`: the motion of a run in USD, over the user's own stage or with the shapes of the model."""

from __future__ import annotations

import numpy as np
from pippin import Host
from pippin.viewing import FileViewer

from .scene import scene_motion


class UsdViewer(FileViewer):
    """Adds the poses of bodies to a USD layer after every `1 / rate` seconds of simulated time."""

    @property
    def notes(self) -> list[str]:
        """Facts that a reader of the results should know."""
        return [*self._notes, *self._motion.notes] if hasattr(self, "_motion") else []

    def prepare(self, simulation: Host) -> None:
        """Prepare the layer.

        Raises:
            ConfigError: The stage has no prim for a body.
        """
        self._motion, self._notes = scene_motion(simulation, self.path, self.worlds, is_simulated=self.config.physics)
        self._motion.layer.timeCodesPerSecond = self._motion.layer.framesPerSecond = self.config.rate
        self._motion.layer.startTimeCode = 0.0

    def write(self, simulation: Host, index: int) -> None:
        """Add the poses of the bodies.

        Raises:
            SimulationError: The file cannot be written; the one before stays.
        """
        body_q = simulation.state.body_q
        self._motion.add(index, np.zeros((0, 7)) if body_q is None else body_q.numpy())
        self._motion.save_if_due(index / self.config.rate)

    def finish(self) -> None:
        """Write the file.

        Raises:
            SimulationError: The file cannot be written; the one before stays.
        """
        self._motion.save()
