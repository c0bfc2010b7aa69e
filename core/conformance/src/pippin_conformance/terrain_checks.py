"""Checks of a kind of patches: its ground by difficulty and seed, and balls that fall on it."""

from __future__ import annotations

import numpy as np
import pippin
from pippin import ConfigError, PluginError
from pippin.arrays import present
from pippin.catalog import Catalog
from pippin.terrains import TerrainGrid

from .kinds import LABEL
from .runs import Runs

_RADIUS = 0.1
"""Radius of the balls [m]."""

_DROP = 0.05
"""Height above the start from which they fall [m]."""

_TIME = 0.5
"""Time for which they fall and roll [s]."""

_DEPTH = 0.05
"""Depth to which a ball may sink into soft contacts [m]."""

_LEVELS = 3


def check_ground(runs: Runs) -> None:
    """For each difficulty from 0 to 1, the ground is made of finite numbers and has a start on it. It depends on
    nothing but the size, the difficulty and the random numbers that are passed.
    """
    first, again, other = (_grid(runs, seed) for seed in (1, 1, 2))
    points = np.linspace(-0.5, 0.5, 41)
    x, y = np.meshgrid(points * first.extent[0], points * first.extent[1])
    if not np.array_equal(first.height(x, y), again.height(x, y)):
        raise PluginError(
            f"{runs.subject}: equal arguments give different ground; draw with the generator that is passed, alone"
        )
    if first.spawns.shape != other.spawns.shape:
        raise PluginError(f"{runs.subject}: another seed gives other patches; return one ground for each call")


def check_stand(runs: Runs) -> None:
    """Balls that fall on the start of an easy, a middle and a hard patch do not fall through the ground."""
    subject = runs.subject
    with subject.simulate(_scene(runs, 1) | {"worlds": _LEVELS, "objects": [_BALL]}) as simulation:
        simulation.step(round(_TIME / subject.dt))
        places = present(simulation.state.body_q).numpy()[:, :3]
    ground = _grid(runs, 1).height(places[:, 0], places[:, 1])
    heights = np.where(np.isfinite(ground), places[:, 2] - ground, -np.inf)  # below all ground
    for level, height in enumerate(heights.tolist()):
        if not height > _RADIUS - _DEPTH:
            raise PluginError(
                f"{subject}: a ball with a radius of {_RADIUS:g} m that falls on the patch of level {level} is"
                f" {height:.3g} m above the ground; let blocks and heights cover the start"
            )


_BALL = {
    "type": "body",
    "label": "ball",
    "position": (0.0, 0.0, _RADIUS + _DROP),
    "shapes": [{"type": "sphere", "radius": _RADIUS}],
}


def _scene(runs: Runs, seed: int) -> dict[str, object]:
    return {"terrain": {"levels": _LEVELS, "border": 1.0, "seed": seed, "patches": {LABEL: runs.subject.table}}}


def _grid(runs: Runs, seed: int) -> TerrainGrid:
    scene = pippin.structure({"scene": _scene(runs, seed)}).scene
    try:
        grid = TerrainGrid.of(scene, 0, Catalog.installed())
    except ConfigError as error:
        raise PluginError(f"{runs.subject}: gives no ground: {error}") from error
    assert grid is not None, "the scene has a terrain"
    return grid
