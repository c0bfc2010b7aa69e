"""The worlds of candidates: a simulation that plays the windows of logs once for each of them."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from pippin.config import SimulationConfig
from pippin.config.fit import FitConfig
from pippin.simulation import Simulation

from .log import Log
from .log_player import LogPlayer
from .parameter_kinds import find_parameters
from .parameters import FitParameter
from .rollouts import Rollouts, worlds_of
from .windows import Window


@attrs.frozen(kw_only=True, eq=False)
class FitMaterial:
    """File and logs of a fit, in windows."""

    config: SimulationConfig
    """The configuration, with one world."""

    table: FitConfig
    """Its table `[fit]`."""

    logs: Sequence[Log]
    """The logs."""

    windows: Sequence[Window]
    """Their windows."""

    steps: int
    """Control steps of the longest one."""


class Candidates:
    """A simulation whose worlds are candidates × windows.

    Args:
        material: What is compared.
        count: Number of candidates that are simulated at once.
    """

    def __init__(self, material: FitMaterial, count: int) -> None:
        table, logs, windows = material.table, material.logs, material.windows
        of_worlds = worlds_of(windows, count)
        config = attrs.evolve(material.config, scene=attrs.evolve(material.config.scene, worlds=len(of_worlds)))
        player = LogPlayer(table, logs, of_worlds, material.steps)
        #: The simulation.
        self.simulation = Simulation(config, plugins={"log": player})
        #: What varies.
        self.parameters: tuple[FitParameter, ...] = find_parameters(table, self.simulation, player.joints)
        #: Their residuals.
        self.rollouts = Rollouts(self.simulation, player, table, logs, windows, material.steps, count, self.parameters)

    def values(self, unknowns: np.ndarray) -> np.ndarray:
        """Return the values of unknowns, shape [..., values] each."""
        parts = np.split(unknowns, np.cumsum([each.count for each in self.parameters])[:-1], axis=-1)
        own = [each.values(part) for each, part in zip(self.parameters, parts, strict=True)]
        return np.concatenate(own, axis=-1)

    def residuals(
        self, values: np.ndarray, means: np.ndarray, weights: np.ndarray, shifts: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the residuals of candidates after a rollout: of the samples, and of what was known before.

        Args:
            values: The values of all parameters, shape [candidates, values].
            means: What each value was expected to be, shape [values].
            weights: The inverse of its variance; 0 if nothing was known.
            shifts: Shifts of the measured starts, shape [candidates, windows, states].

        Returns:
            Shape [candidates, rows]; the last rows are those of the values.
        """
        self.rollouts.roll_out(values, shifts=shifts)
        own = self.rollouts.residuals(self.rollouts.parts[0])
        return np.concatenate([own, (values - means) * np.sqrt(weights)], axis=1)
