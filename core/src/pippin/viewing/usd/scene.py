"""The layer for a simulation: over the user's stage, if that is all of the scene, else of the model's own shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pippin import AssetConfig, Host, find_file

from .geometry import geometry
from .motion import UsdMotion
from .overlay import overlay

_STAGES = (".usd", ".usda", ".usdc", ".usdz")
"""Suffixes of USD stages."""


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
        ConfigError: The stage has no prim for a body.
    """
    model, offsets = simulation.model, np.asarray(simulation.world_offsets)[worlds]
    assets = simulation.config.scene.assets
    has_stage = any(map(_is_stage, assets))
    if len(assets) == 1 and has_stage:
        stage = find_file(assets[0].path, "scene.assets[0].path")
        return overlay(path, stage, assets[0], model, worlds, offsets, is_simulated=is_simulated)
    motion, notes = geometry(path, model, worlds, offsets)
    if has_stage:
        notes.append(f"'{path.name}' has shapes of its own, as the scene has other assets besides its USD stages")
    if model.particle_count:
        notes.append(f"'{path.name}' is without particles, cloth and soft bodies; use the viewer `video` for them")
    return motion, notes


def _is_stage(asset: AssetConfig) -> bool:
    return asset.format == "usd" or (
        asset.format is None and asset.importer is None and asset.path.lower().endswith(_STAGES)
    )
