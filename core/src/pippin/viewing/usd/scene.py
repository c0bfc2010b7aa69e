"""The layer for a simulation: over the user's stage, if that is all of the scene, else of the model's own shapes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pippin.assets.asset import find_assets
from pippin.assets.formats import FORMATS

from .geometry import geometry
from .motion import UsdMotion
from .overlay import overlay

if TYPE_CHECKING:
    from pippin.binding import Host

__all__ = ["scene_motion"]


def scene_motion(
    simulation: Host, path: Path, worlds: np.ndarray, *, is_simulated: bool
) -> tuple[UsdMotion, list[str]]:
    """Return the motion of worlds, without samples so far, and notes.

    Args:
        simulation: The simulation.
        path: The file of the layer.
        worlds: Indices of the worlds to show.
        is_simulated: Whether a program may simulate the bodies.

    Raises:
        ConfigError: The stage has no place for the bodies.
    """
    model, offsets = simulation.model, np.asarray(simulation.world_offsets)[worlds]
    configs = simulation.config.scene.assets
    assets = find_assets(configs) if configs else []
    of_stages = [asset for asset in assets if asset.format is FORMATS["usd"]]
    if len(assets) == 1 and of_stages:
        [asset] = of_stages
        return overlay(path, asset.file, asset.config, model, worlds, offsets, is_simulated=is_simulated)
    motion, notes = geometry(path, model, worlds, offsets)
    if of_stages:
        notes.append(f"'{path.name}' has shapes of its own, as the scene has other assets besides its USD stages")
    if model.particle_count:
        notes.append(f"'{path.name}' is without particles, cloth and soft bodies; use the viewer `video` for them")
    return motion, notes
