"""Curricula: numbers by the control steps since the start, and levels of the terrain by the distance walked."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from pippin import ConfigError, did_you_mean
from pippin.arrays import on_host

from pippin_task import Curriculum, TermContext
from pippin_task.draws import launch_draws

from .configs import StagesConfig, TerrainLevelsConfig
from .kernels import change_levels, draw_levels, set_numbers


class Stages(Curriculum):
    """The curriculum `stages`: the numbers of the last stage whose step has come."""

    def __init__(self, config: StagesConfig, context: TermContext) -> None:
        super().__init__(config, context)
        arrays = context.changeable(config.of)
        keys = list(dict.fromkeys(key for stage in config.stages for key in stage.numbers))
        for key in keys:
            if key not in arrays:
                raise ConfigError(
                    f"stages: {config.of!r} has no number {key!r} that may change{did_you_mean(key, arrays) or ';'}"
                    f" keys: {', '.join(arrays) or 'none'}"
                )
        self._targets = [arrays[key] for key in keys]
        pairs = list(zip(keys, self._targets, strict=True))
        self.labels = [key if len(row) == 1 else f"{key}/{index}" for key, row in pairs for index in range(len(row))]
        steps = [0, *(stage.step for stage in config.stages)]
        device = context.device
        self._steps: Any = wp.array(np.array(steps, dtype=np.int64), dtype=wp.int64, device=device)
        self._tables = [wp.array(self._table(*pair), dtype=float, ndim=2, device=device) for pair in pairs]
        self.value = wp.zeros((context.world_count, len(self.labels)), dtype=float, device=device)

    def _table(self, key: str, array: wp.array) -> np.ndarray:
        """Return the numbers of a key in the file and in each stage, shape [stages + 1, numbers]."""
        config, context = self.config, self.context
        task: Any = context.simulation.config.task
        is_weight = key == "weight" and config.of.startswith("rewards.")
        factor = context.simulation.control_dt if is_weight and task.reward_rate == "second" else 1.0
        rows = [on_host(array).astype(float)]
        for index, stage in enumerate(config.stages):
            numbers = np.atleast_1d(np.array(stage.numbers.get(key, rows[-1] / factor), dtype=float))
            where = f"stages[{index}].numbers.{key}"
            if len(numbers) != len(array):
                raise ConfigError(f"{where}: expected {len(array)} numbers, got {len(numbers)}; give one for each")
            if len(numbers) == 2 and numbers[0] > numbers[1]:
                raise ConfigError(f"{where}: must be a range [low, high], got {numbers.tolist()}; turn it round")
            rows.append(numbers * factor)
        return np.array(rows, dtype=np.float32)

    def update(self, finished: wp.array[wp.bool]) -> None:
        """Write the numbers of the present step."""
        counter, first = self.context.simulation.step_counter, 0
        for target, table in zip(self._targets, self._tables, strict=True):
            inputs = [counter, self._steps, table, int(self.config.interpolate), first, target, self.value]
            wp.launch(set_numbers, (len(self.value), len(target)), inputs, device=target.device)
            first += len(target)


class TerrainLevels(Curriculum):
    """The curriculum `terrain-levels`: a level up after a long way, and a level down after a short one."""

    labels = ("level",)

    def __init__(self, config: TerrainLevelsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._places = places = context.places()
        low, high = config.first or (0, (places.level_count - 1) // 2)
        if high >= places.level_count:
            raise ConfigError(
                f"first: the terrain has the levels 0 to {places.level_count - 1}, got {[low, high]}; raise"
                " scene.terrain.levels, or start lower"
            )
        self._bodies, self.draws = context.root(config.body), context.draws()
        count, device = context.world_count, context.device
        self.value = wp.zeros((count, 1), dtype=float, device=device)
        self._command: Any = wp.zeros((count, 0), dtype=float, device=device)
        if config.command is not None:
            self._command = context.command(config.command, "command").value
            if self._command.shape[1] < 2:
                raise ConfigError(f"command: {config.command!r} has no speeds along x and y; choose another one")
        task: Any = context.simulation.config.task
        self._limits = [task.episode_length or 0.0, config.up * min(places.size), config.down, places.level_count]
        places.are_changed = True
        everywhere = wp.full(count, value=True, dtype=bool, device=device)
        launch_draws(draw_levels, count, self.draws, everywhere, low, high, places.levels, self.value)
        places.update()

    def update(self, finished: wp.array[wp.bool]) -> None:
        """Change the levels of the worlds whose episode ended, and look up their places."""
        host, places = self.context.simulation, self._places
        inputs = [host.state.body_q, self._bodies, places.places, self._command, self.context.episodes.length]
        inputs += [host.control_dt, *self._limits, places.levels, self.value]
        launch_draws(change_levels, len(self.value), self.draws, finished, *inputs)
        places.update()
