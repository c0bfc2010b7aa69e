"""The worlds of candidates, in this process and perhaps in others, which play the windows of logs for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import attrs
import numpy as np
from pippin.closing import Closing
from pippin.errors import ConfigError
from pippin.sharding.shard import shard_count, shards_of
from pippin.sharding.shard_pool import shard_pool
from pippin.simulation import Simulation
from pippin.workers import WorkerPool

from .log_playback import FitMaterial, LogPlayback
from .parameters import FitParameter
from .rollouts import Rollouts, worlds_of


class Candidates(Closing):
    """Simulations whose worlds are candidates × windows. A world gives the same bits in any number of processes.

    Args:
        material: What is compared.
        count: Number of candidates that are simulated at once.
        processes: Number of processes that share the worlds, this one among them; "auto" means as many as there are
            cores, and 1 for a solver that uses all cores itself.

    Raises:
        ConfigError: There are more processes than candidates.
    """

    def __init__(self, material: FitMaterial, count: int, processes: int | Literal["auto"] = 1) -> None:
        windows = worlds_of(material.windows, count)
        config = attrs.evolve(material.config, scene=attrs.evolve(material.config.scene, worlds=len(windows)))
        total = shard_count(config, processes)
        if processes == "auto":
            total = min(total, count)
        if not 1 <= total <= count:
            raise ConfigError(
                f"processes: expected 1 to {count}, the candidates that are simulated at once, got {total}"
            )
        own, *others = shards_of(config, total)
        self._parts = [(each.worlds.start, each.worlds.stop) for each in (own, *others)]
        playback = LogPlayback(own.config, material, windows[slice(*self._parts[0])])
        #: The worlds of this process.
        self.own: LogPlayback = playback
        #: Their simulation.
        self.simulation: Simulation = playback.simulation
        #: What varies.
        self.parameters: tuple[FitParameter, ...] = playback.parameters
        self._pool: WorkerPool | None = None
        try:
            #: Their residuals.
            self.rollouts = Rollouts(self.play, self.simulation.control_dt, material, count, self.parameters)
            if others:
                arguments = [(each.config, material, windows[each.worlds.start : each.worlds.stop]) for each in others]
                self._pool = shard_pool(others, LogPlayback, arguments, "give the same command once more: it goes on")
        except BaseException:
            playback.close()
            raise

    def play(
        self, values: np.ndarray, shifts: np.ndarray, is_asked: np.ndarray, watch: Callable[[], None] | None = None
    ) -> Mapping[str, np.ndarray]:
        """Return the motion of the joints of all worlds after a rollout; the arguments are those of `LogPlayback.play`.
        `watch` sees the worlds of this process.
        """
        each = (values, shifts, is_asked)
        own, *others = [tuple(numbers[slice(*part)] for numbers in each) for part in self._parts]
        if self._pool is not None:
            self._pool.start_call("play", each=others)
        motions = [self.own.play(*own, watch=watch)]
        if self._pool is not None:
            motions += self._pool.finish()
        return {kind: np.concatenate([motion[kind] for motion in motions], axis=1) for kind in motions[0]}

    def close(self) -> None:
        """Close the simulations, and end the other processes."""
        if self._pool is not None:
            self._pool.close("close")
        self.own.close()

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
