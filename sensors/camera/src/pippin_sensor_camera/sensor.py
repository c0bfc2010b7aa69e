"""Cameras on bodies or fixed in the world, for all worlds at once, as a Pippin sensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from pippin import labels, sensing
from pippin.devices import kind_of

from .config import CameraConfig
from .images import IMAGES
from .kernels import place_cameras

__all__ = ["SensorCamera"]

_THREADS = 2**31
"""The most threads of a launch that Warp numbers."""


class SensorCamera(sensing.Sensor):
    """Ray-traced images of the camera's own world and of the shapes that all worlds share.

    Outputs, of shape [worlds that have such bodies, bodies that match, height, width]; `worlds` lists these worlds.
    The first row is the upper edge, the first column the left edge. `outputs` of the configuration chooses among

    - `depth` [m]: distance from the camera's plane, along −z of its frame
    - `distance` [m]: distance from the camera, along the ray
    - `normal`: outward unit normal of the surface, in the world frame; that of cloth and soft bodies is towards the
      camera; zero if nothing is in sight
    - `segmentation`: index of the shape in the model; -1 if nothing is in sight, -2 for particles, -3 for cloth
    - `color`: red, green, blue and alpha from 0 to 255 (sRGB), lit by the sky and one light; alpha is 0 if nothing is
      in sight
    - `albedo`: the same without lighting
    """

    eager_reason = "on the CPU, no graph records how the surface of a cloth is refitted"

    def __init__(self, config: CameraConfig) -> None:
        super().__init__(config)
        self._sites: dict[int, list[int]] = {}
        self._fov = config.fov

    @property
    def is_capturable(self) -> bool:
        """Whether a graph may record it: always, except with cloth or soft bodies on the CPU; known after `bind`."""
        has_surfaces = self._model.tri_count or self._model.deformable_visual_mesh_count
        return not (has_surfaces and kind_of(self._model.device) == "cpu")

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Add the cameras to their bodies, or one camera to the world."""
        self._sites[prototype] = self._add_sites(builder)

    def build_outputs(self, binding: pippin.Binding) -> Mapping[str, sensing.Output]:
        """Return the images of all worlds that have cameras."""
        simulation = binding.simulation
        config, model = self.config, simulation.model
        sites = binding.indices("shape", self._sites)
        _refuse_too_many(sites.size, config.width, config.height)
        self._model, camera = model, newton.sensors.SensorCamera
        self._site_indices = wp.array(sites.ravel(), dtype=int, device=model.device)
        self._poses = wp.zeros(sites.size, dtype=wp.transform, device=model.device)
        worlds = np.repeat(self.worlds, sites.shape[1])
        is_plain = np.array_equal(worlds, np.arange(model.world_count))  # this case renders faster
        self._worlds_of_views = None if is_plain else wp.array(worlds, dtype=int, device=model.device)
        self._rays = camera.compute_camera_rays_pinhole(
            config.width, config.height, camera_fov=self._fov, device=model.device
        )
        clear = camera.ClearData(clear_depth=config.depth_of_no_hit)
        settings = camera.RenderConfig(
            max_distance=config.max_distance,
            enable_shadows=config.shadows,
            enable_backface_culling=not model.tri_count,  # a cloth has two sides
        )
        self._camera = camera(model, default_clear_data=clear, default_render_config=settings, load_textures=False)
        self._camera.create_default_light(enable_shadows=config.shadows)
        shape = (sites.size, config.height, config.width)
        kinds = {name: IMAGES[name] for name in config.outputs}
        images = {name: kind.allocate(shape, clear, model.device) for name, kind in kinds.items()}
        self._images: dict[str, Any] = {kind.argument: images[name] for name, kind in kinds.items()}
        names = tuple(model.shape_label[site] for site in sites[0])
        infinite = "where nothing is in sight; set no_hit of the sensor" if config.no_hit == "infinity" else ""
        return {
            name: sensing.Output(
                data=kind.per_world(images[name], sites),
                unit=kind.unit,
                frame=kind.frame,
                labels=names,
                infinite=infinite if name in ("depth", "distance") else "",
            )
            for name, kind in kinds.items()
        }

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Render the images. May be recorded if `is_capturable` is true."""
        model = self._model
        model.bvh_refit_shapes(state)
        model.bvh_refit_particles(state)
        inputs = [self._site_indices, model.shape_body, model.shape_transform, state.body_q]
        wp.launch(place_cameras, len(self._poses), inputs, [self._poses], device=model.device)
        self._camera.update(state, self._poses, self._rays, world_indices=self._worlds_of_views, **self._images)

    def _add_sites(self, builder: newton.ModelBuilder) -> list[int]:
        config, position, rotation = self.config, self.config.position, self.config.orientation
        if config.body is None and config.site is None and config.camera is None:
            return [sensing.add_site(builder, -1, wp.transform(position, rotation), "world/site")]
        if config.camera is not None:
            return self._at_cameras(builder, wp.transform(position, rotation))
        place = sensing.SiteConfig(body=config.body, site=config.site, position=position, rotation=rotation)
        return sensing.add_sites(builder, place)

    def _at_cameras(self, builder: newton.ModelBuilder, frame: wp.transform) -> list[int]:
        """Add sites at the asset's cameras, and take their angle of view if the configuration gives none."""
        cameras = sensing.cameras_of(builder)
        found = list(cameras)
        texts = [builder.shape_label[site] for site in found]
        chosen = [found[i] for i in labels.match(self.config.camera or (), texts, what="camera", where="camera")]
        angles = sorted({cameras[site] for site in chosen})
        if self.config.fov is None:
            if len(angles) > 1 or self._fov not in (None, angles[0]):
                listed = ", ".join(f"{angle:.4g}" for angle in angles)
                raise pippin.ConfigError(
                    f"camera: the cameras see {listed} rad, and one sensor has one angle; set vertical_fov, or make a"
                    " sensor for each"
                )
            self._fov = angles[0]
        bodies, poses = builder.shape_body, builder.shape_transform
        return [
            sensing.add_site(builder, bodies[site], poses[site] * frame, f"{builder.shape_label[site]}/site")
            for site in chosen
        ]


def _refuse_too_many(cameras: int, width: int, height: int) -> None:
    """Refuse images with more pixels than a launch has threads: one thread of Newton's kernel draws a pixel."""
    if cameras * width * height > _THREADS:
        raise pippin.ConfigError(
            f"width: {cameras} cameras of {width} × {height} pixels need {cameras * width * height} threads, and a"
            f" launch has at most {_THREADS}; use smaller images, or split the worlds over simulations"
        )
