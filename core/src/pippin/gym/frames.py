"""Frames of an environment: a picture of each world, with a camera that follows its first body."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from newton.sensors import SensorCamera
from pippin.analysis.picture import CAMERA_DIRECTION, corners, look
from pippin.arrays import on_host, present
from pippin.simulation import Simulation

__all__ = ["Frames"]

_SIZE = (320, 240)
"""Width and height of a picture [pixels]."""

_FOV = 0.7
"""Angle of view from the upper to the lower edge [rad]."""


class Frames:
    """Pictures of all worlds.

    Args:
        simulation: The simulation, whose state gives the distance of the cameras from the first bodies.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, model = simulation, simulation.model
        self._camera = SensorCamera(model, default_clear_data=SensorCamera.ClearData(clear_color=0xFFB6B0AA))
        self._camera.create_default_light(enable_shadows=True)
        width, height = _SIZE
        self._rays = SensorCamera.compute_camera_rays_pinhole(width, height, camera_fov=_FOV, device=model.device)
        self._image: Any = self._camera.allocate_image_color(model.world_count, width, height)
        self._bodies = on_host(model.body_world_start)[: model.world_count]
        low, high = corners(model, simulation.state)
        distance = np.linalg.norm(high - low) / 2.0 / np.sin(_FOV / 2.0)
        self._offset = CAMERA_DIRECTION / np.linalg.norm(CAMERA_DIRECTION) * distance
        frame: Any = look(self._offset, np.zeros(3))
        self._orientation = np.array(frame, dtype=np.float32)[3:]

    def draw(self) -> tuple[np.ndarray, ...]:
        """Return the picture of each world, shape [height, width, 3], from 0 to 255."""
        model, state = self._simulation.model, self._simulation.state
        eyes = on_host(present(state.body_q))[self._bodies, :3] + self._offset
        turns = np.tile(self._orientation, (len(eyes), 1))
        places = wp.array(np.concatenate([eyes, turns], axis=1), dtype=wp.transformf, device=model.device)
        model.bvh_refit_shapes(state)
        self._camera.update(state, places, self._rays, color_image=self._image)
        width, height = _SIZE
        pixels = self._image.numpy().view(np.uint8).reshape(len(eyes), height, width, 4)
        return tuple(np.ascontiguousarray(picture[..., :3]) for picture in pixels)
