"""Viewer `usd`: the motion of a run in USD, over the user's own stage or with the shapes of the model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pippin.extras import import_library
from pippin.files import output_path, refuse_unwritable
from pippin.hookspecs import hookimpl
from pippin.indices import chosen_worlds

from .config import UsdConfig

if TYPE_CHECKING:
    from pippin.binding import Binding, Host

    from .motion import UsdMotion

__all__ = ["Usd"]

_TOLERANCE = 1e-6
"""Largest distance of a frame from its time, in frames: decimals are not exact in binary."""


class Usd:
    """Adds the poses of bodies to a USD layer after every `1 / rate` seconds of simulated time.

    Args:
        config: The configuration.
    """

    Config: ClassVar[type[UsdConfig]] = UsdConfig

    def __init__(self, config: UsdConfig) -> None:
        self.config = config
        self._motion: UsdMotion | None = None
        self._start: float | None = None
        #: Number of frames so far.
        self.frame_count = 0
        self._notes: list[str] = []

    @property
    def frame_period(self) -> float:
        """Simulated time from one frame to the next [s]."""
        return 1.0 / self.config.rate

    @property
    def notes(self) -> list[str]:
        """Facts that a reader of the results should know."""
        return [*self._notes, *(() if self._motion is None else self._motion.notes)]

    @hookimpl
    def bind(self, simulation: Host, binding: Binding) -> None:
        """Prepare the layer, and refuse a file that cannot be written.

        Raises:
            ConfigError: A world does not exist, the file cannot be written, or the stage has no place for the bodies.
            PluginError: OpenUSD is not installed.
        """
        import_library("pxr", "usd")
        from .scene import scene_motion

        config, count = self.config, simulation.world_count
        #: The file; known after `bind`.
        self.path = output_path(simulation.folder, config.path or f"{binding.label.partition(':')[2]}.usdc")
        refuse_unwritable(self.path)
        #: Indices of the worlds in the file, shape [worlds]; known after `bind`.
        self.worlds = (
            config.worlds_of(count)
            if config.worlds is None
            else chosen_worlds(config.worlds, count, "worlds", "leave the viewer out")
        )
        self._motion, notes = scene_motion(simulation, self.path, self.worlds, is_simulated=config.physics)
        self._motion.layer.timeCodesPerSecond = self._motion.layer.framesPerSecond = config.rate
        self._motion.layer.startTimeCode = 0.0
        self._notes += notes

    @hookimpl
    def frame(self, simulation: Host, time: float) -> None:
        """Add the poses of the bodies.

        Raises:
            SimulationError: The file cannot be written; the one before stays.
        """
        if self._motion is None:
            return
        self._start = time if self._start is None else self._start
        code = math.floor((time - self._start) * self.config.rate + _TOLERANCE)
        body_q = simulation.state.body_q
        self._motion.add(code, np.zeros((0, 7)) if body_q is None else body_q.numpy())
        self.frame_count += 1
        self._motion.save_if_due(time - self._start)

    @hookimpl
    def close(self) -> None:
        """Write the file.

        Raises:
            SimulationError: The file cannot be written; the one before stays.
        """
        if self._motion is not None and self.frame_count:
            self._motion.save()
