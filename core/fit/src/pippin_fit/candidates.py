"""Candidates of a fit: worlds that play the windows of logs, in this process and perhaps in others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import attrs
import numpy as np
from pippin import ConfigError, Simulation
from pippin.sharding import shard_count, shard_pool, shards_of
from pippin.workers import WorkerPool

from .log_playback import FitMaterial, LogPlayback
from .parameters import FitParameter
from .windows import Window

JUDGED = 2
"""Candidates that play the windows of the validation: the values of the file, and the ones that were found."""


def worlds_of(windows: Sequence[Window], candidates: int) -> list[Window]:
    """Return the window of each world: candidates × windows to fit, then `JUDGED` × windows of the validation."""
    fitted = [window for window in windows if not window.is_validation]
    return fitted * candidates + [window for window in windows if window.is_validation] * JUDGED


class Candidates:
    """Simulations whose worlds are candidates × windows. A world gives the same bits in any number of processes.

    Args:
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
        self.simulation: Simulation = playback.simulation
        self.parameters: tuple[FitParameter, ...] = playback.parameters
        self._pool: WorkerPool | None = None
        try:
            if others:
                arguments = [(each.config, material, windows[each.worlds.start : each.worlds.stop]) for each in others]
                self._pool = shard_pool(others, LogPlayback, arguments, "give the same command once more: it goes on")
        except BaseException:
            playback.close()
            raise

    def play(
        self, values: np.ndarray, shifts: np.ndarray, is_asked: np.ndarray, watch: Callable[[], None] | None = None
    ) -> Mapping[str, np.ndarray]:
        """Return the motion of the joints of all worlds after a rollout, with the arguments of `LogPlayback.play`;
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
