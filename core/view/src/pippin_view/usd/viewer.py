"""Viewer `usd`: the motion of a run in USD, over the user's own stage or with the shapes of the model."""

from __future__ import annotations

import numpy as np
from pippin import AssetConfig, Host, find_file
from pippin.viewing import FileViewer

from .geometry import geometry
from .motion import UsdMotion
from .overlay import overlay

_STAGES = (".usd", ".usda", ".usdc", ".usdz")
"""Suffixes of USD stages."""


class ViewerUSD(FileViewer):
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
        self._motion, self._notes = self._scene_motion(simulation)
        self._motion.layer.timeCodesPerSecond = self._motion.layer.framesPerSecond = self.config.rate
        self._motion.layer.startTimeCode = 0.0

    def write(self, simulation: Host, index: int) -> None:
        """Add the poses of the bodies and the positions of the particles."""
        body_q, particle_q = simulation.state.body_q, simulation.state.particle_q
        bodies = np.zeros((0, 7)) if body_q is None else body_q.numpy()
        self._motion.add(index, bodies, None if particle_q is None else particle_q.numpy())
        self._motion.save_if_due(index / self.config.rate)

    def finish(self) -> None:
        """Write the file."""
        self._motion.save()

    def _scene_motion(self, simulation: Host) -> tuple[UsdMotion, list[str]]:
        """Return the motion over the user's stage, if that is all of the scene, else over the model's own shapes."""
        path, worlds = self.path, self.worlds
        model, offsets = simulation.model, np.asarray(simulation.world_offsets)[worlds]
        scene = simulation.config.scene
        has_stage = any(map(_is_stage, scene.assets))
        if has_stage and len(scene.assets) == 1 and not scene.objects and not model.particle_count:
            stage = find_file(scene.assets[0].path, "scene.assets[0].path")
            return overlay(path, stage, scene.assets[0], model, worlds, offsets, is_simulated=self.config.physics)
        motion, notes = geometry(path, model, worlds, offsets)
        if has_stage:
            notes.append(f"'{path.name}' has shapes of its own, as the scene has more than the bodies of one USD stage")
        return motion, notes


def _is_stage(asset: AssetConfig) -> bool:
    return asset.format == "usd" or (
        asset.format is None and asset.importer is None and asset.path.lower().endswith(_STAGES)
    )
