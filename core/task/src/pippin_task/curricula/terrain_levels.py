"""Levels of the terrain by the distance that a robot has walked."""

from __future__ import annotations

from typing import Any

import warp as wp
from pippin import ConfigError

from pippin_task import Curriculum, TermContext

from .configs import TerrainLevelsConfig
from .kernels import change_levels, draw_levels


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
        inputs = [*self.draws.arguments, low, high, places.levels, self.value]
        wp.launch(draw_levels, count, inputs, device=device)
        self.draws.advance(wp.full(count, value=True, dtype=bool, device=device))
        places.update()

    def update(self, finished: wp.array[wp.bool]) -> None:
        """Change the levels of the worlds whose episode ended, and look up their places."""
        host, places = self.context.simulation, self._places
        inputs = [finished, *self.draws.arguments, host.state.body_q, self._bodies, places.places, self._command]
        inputs += [self.context.episodes.length, host.control_dt, *self._limits, places.levels, self.value]
        wp.launch(change_levels, len(self.value), inputs, device=finished.device)
        self.draws.advance(finished)
        places.update()
