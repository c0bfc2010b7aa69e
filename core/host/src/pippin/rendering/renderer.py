"""A renderer of shaded images, ray-traced by Newton without a display: worlds side by side, ground, shadows, sky."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from newton.sensors import SensorCamera
from pippin.arrays import on_host, present
from pippin.matter import RenderTendon, line_radius, render_matter, render_tendons, segments_of

from .cameras import look_at
from .kernels import blend, compose, draw_lines, find_edges, gather, tint_grains

_THRESHOLD = 6
"""Difference of the colors of neighbours that makes an edge, from 0 to 255."""


class Edges:
    """Smooths the images of some views.

    Args:
        rays: The rays of each pixel, shape [height, width, samples, 2].
    """

    def __init__(self, rays: Any, view_count: int) -> None:
        height, width, self._sample_count, _ = rays.shape
        device, count = rays.device, height * width
        self._rays = rays
        self._edges: Any = wp.zeros((view_count, count), dtype=int, device=device)
        self._counts: Any = wp.zeros(view_count, dtype=int, device=device)
        self._chosen: Any = wp.zeros(count * self._sample_count * 2, dtype=wp.vec3, device=device)
        count *= self._sample_count
        kinds: tuple[Any, ...] = (wp.uint32, float, wp.uint32)
        self._images: Any = [wp.zeros(count, dtype=kind, device=device) for kind in kinds]

    def smooth(self, draw: Callable[..., None], poses: Any, worlds: Any, colors: Any, shapes: Any) -> None:
        """Draw the pixels again that differ from a neighbour in color or shape: arrays of shape [views, height, width].

        `draw` takes poses and worlds of views, their rays, and the images of colors, depths and shapes. Each view has a
        pose and a world; its colors change.
        """
        device = self._rays.device
        self._counts.zero_()
        wp.launch(find_edges, colors.shape, [colors, shapes, _THRESHOLD], [self._edges, self._counts], device=device)
        for view, count in enumerate(self._counts.numpy().tolist()):
            if not count:
                continue
            edges, samples = self._edges[view][:count], self._sample_count
            rays: Any = self._chosen[: count * samples * 2].reshape((count, samples, 1, 2))
            wp.launch(gather, (count, samples, 2), [self._rays, edges], [rays], device=device)
            images = [each[: count * samples].reshape((1, count, samples)) for each in self._images]
            draw(poses[view : view + 1], worlds[view : view + 1], rays, *images)
            wp.launch(blend, count, [images[0], edges, view], [colors], device=device)


_GAP = 2
"""Pixels between two tiles."""

_ASPECT = 4.0 / 3.0
"""Width of a tile by its height that is liked best."""

_FLOOR = "ground_plane"
"""Label of the ground that the scene adds, which has no colour of its own."""

_GROUND = (0.80, 0.81, 0.83)
"""Colour of that ground."""

_HORIZON = (226.0, 231.0, 238.0)
"""Colour of the sky at the horizon, from 0 to 255."""

_ZENITH = (128.0, 164.0, 208.0)
"""Colour of the sky above, from 0 to 255."""

_LIGHT = (-0.35, 0.62, -0.78)
"""Direction of the light."""


@attrs.frozen(eq=False)
class Tiles:
    """Tiles of equal size in an image."""

    size: tuple[int, int]
    """Width and height of the image [pixels]."""

    width: int
    """Width of a tile [pixels]."""

    height: int
    """Height of a tile [pixels]."""

    corners: np.ndarray
    """Row and column of the upper left pixel of each tile, shape [tiles, 2]."""

    @classmethod
    def fitting(cls, count: int, size: tuple[int, int]) -> Tiles:
        """Return the largest tiles that fit into an image.

        Args:
            count: Number of tiles.
            size: Width and height of the image [pixels].
        """
        width, height = size
        columns = max(range(1, count + 1), key=lambda n: min(width / n, height / math.ceil(count / n) * _ASPECT))
        rows = math.ceil(count / columns)
        across, down = (width - _GAP * (columns - 1)) // columns, (height - _GAP * (rows - 1)) // rows
        index = np.arange(count)
        corners = np.stack([index // columns * (down + _GAP), index % columns * (across + _GAP)], axis=1)
        return cls(size=size, width=across, height=down, corners=corners)

    @classmethod
    def stacked(cls, count: int, size: tuple[int, int]) -> Tiles:
        """Return tiles one below the other, without gaps.

        Args:
            count: Number of tiles.
            size: Width and height of a tile [pixels].
        """
        width, height = size
        corners = np.stack([np.arange(count) * height, np.zeros(count, dtype=int)], axis=1)
        return cls(size=(width, height * count), width=width, height=height, corners=corners)


class Renderer:
    """Draws worlds of a model into one image. All arrays are allocated once; an image overwrites the one before.

    Args:
        model: The model; it is only read, besides the boxes around its shapes, which follow the state.
        worlds: Indices of the worlds to draw, one tile each.
        layout: The tiles of the image.
        fov: Angle between the upper and the lower edge of a tile [rad].
        scale: Size of what is in the middle [m], to which the pattern of the ground and the haze fit.
        sample_count: Rays per pixel at edges; elsewhere one is enough.
    """

    def __init__(
        self, model: newton.Model, worlds: np.ndarray, layout: Tiles, fov: float, scale: float, sample_count: int = 4
    ) -> None:
        self._model, self._painted = model, copy.copy(model)  # all is shared but the colours
        self._painted.shape_color = wp.clone(present(model.shape_color))
        device = model.device
        sky = int(_HORIZON[0]) | int(_HORIZON[1]) << 8 | int(_HORIZON[2]) << 16 | 0x7F << 24
        self._camera = SensorCamera(
            self._painted,
            default_clear_data=SensorCamera.ClearData(clear_color=sky, clear_depth=-1.0),
            default_render_config=SensorCamera.RenderConfig(
                enable_shadows=True, enable_textures=True, enable_backface_culling=not model.tri_count
            ),
        )
        self._light: Any = wp.vec3(*(np.array(_LIGHT) / np.linalg.norm(_LIGHT)))
        # pyrefly: ignore[bad-argument-type]
        self._camera.create_default_light(enable_shadows=True, direction=self._light, color=(0.95, 0.91, 0.84))
        self._camera.set_ambient_light((0.29, 0.31, 0.35), (0.11, 0.105, 0.10))
        self._rays = self._rays_of(layout, fov, 1)
        self._edges = Edges(self._rays_of(layout, fov, sample_count), len(worlds)) if sample_count > 1 else None
        shape = (len(worlds), layout.height, layout.width)
        self._colors: Any = wp.zeros(shape, dtype=wp.uint32, device=device)
        self._depths: Any = wp.zeros(shape, dtype=wp.float32, device=device)
        self._shapes: Any = wp.zeros(shape, dtype=wp.uint32, device=device)
        self._poses = wp.zeros(len(worlds), dtype=wp.transformf, device=device)
        self._worlds = wp.array(worlds, dtype=wp.int32, device=device)
        self._corners = wp.array(layout.corners, dtype=wp.int32, device=device)
        self._image = wp.full((*layout.size[::-1], 3), value=255, dtype=wp.uint8, device=device)
        is_plane = on_host(model.shape_type) == int(newton.GeoType.PLANE)
        is_ground = is_plane & (on_host(model.shape_body) < 0)
        self._is_ground = wp.array(is_ground, dtype=wp.bool, device=device)
        self._floors = [shape for shape, label in enumerate(model.shape_label) if label == _FLOOR]
        self._tints = None
        if model.particle_count:
            tints = np.ones((model.particle_count, 3), dtype=np.float32)
            for seen in render_matter(model, worlds):
                tints[seen.particles] = seen.color
            self._tints = wp.array(tints, dtype=wp.vec3, device=device)
        self._tendons = render_tendons(model, worlds)
        of_parts = [seen.world for seen in self._tendons for _ in range(seen.point_count - 1)]
        self._segments: Any = wp.zeros((len(of_parts), 2), dtype=wp.vec3, device=device)
        self._segment_worlds = wp.array(of_parts, dtype=int, device=device)
        self._radius = line_radius(scale)
        self._cell, self._haze = _round_length(scale / 2.0), 14.0 * scale

    def render(self, state: newton.State, poses: np.ndarray) -> np.ndarray:
        """Return the image, shape [height, width, 3], from 0 to 255; the next one overwrites it.

        A camera looks along its own −z, with +y up; the poses are those of each drawn world, shape [worlds, 7].
        """
        model = self._model
        self._poses.assign(poses)
        colors = present(self._painted.shape_color)
        wp.copy(colors, present(model.shape_color))
        for shape in self._floors:
            colors[shape : shape + 1].fill_(wp.vec3(*_GROUND))
        model.bvh_refit_shapes(state)
        model.bvh_refit_particles(state)
        self._camera.sync_deformable_meshes(state)
        if self._tendons:
            self._segments.assign(segments_of(self._tendons, None if state.body_q is None else on_host(state.body_q)))
        images = (self._colors, self._depths, self._shapes)
        draw = partial(self._draw, state)
        draw(self._poses, self._worlds, self._rays, *images)
        if self._edges is not None:
            self._edges.smooth(draw, self._poses, self._worlds, self._colors, self._shapes)
        inputs = [self._colors, self._depths, self._shapes, self._rays, self._poses, model.shape_transform]
        inputs += [self._is_ground, self._cell, self._haze, wp.vec3(*_HORIZON), wp.vec3(*_ZENITH), self._corners]
        wp.launch(compose, self._colors.shape, inputs, [self._image], device=model.device)
        return self._image.numpy()

    def _draw(
        self, state: newton.State, poses: Any, worlds: Any, rays: Any, colors: Any, depths: Any, shapes: Any
    ) -> None:
        """Draw views of a state from poses, shape [views], into images of shape [views, height, width]."""
        images = {"color_image": colors, "depth_image": depths, "shape_index_image": shapes}
        self._camera.update(state, poses, rays, **images, world_indices=worlds, sync_deformables=False)
        model = self._model
        if self._tints is not None:
            tree: Any = model.bvh_particles
            inputs = [depths, shapes, rays, poses, worlds, tree.id, state.particle_q, model.particle_radius]
            inputs += [model.particle_world, self._tints]
            wp.launch(tint_grains, colors.shape, inputs, [colors], device=model.device)
        if self._tendons:
            inputs = [rays, poses, worlds, self._segments, self._segment_worlds, self._radius]
            inputs += [wp.vec3(*RenderTendon.color), self._light]
            wp.launch(draw_lines, colors.shape, inputs, [colors, depths, shapes], device=model.device)

    def _rays_of(self, layout: Tiles, fov: float, sample_count: int) -> Any:
        """Return the rays of a tile, shape [height, width, samples, 2]."""
        return SensorCamera.compute_camera_rays_pinhole(
            layout.width, layout.height, camera_fov=fov, device=self._model.device, sample_count=sample_count
        )


def render_image(
    model: newton.Model,
    state: newton.State,
    eye: Sequence[float] | np.ndarray,
    target: Sequence[float] | np.ndarray,
    size: tuple[int, int],
    fov: float,
) -> np.ndarray:
    """Return the image of a camera in the first world, shape [height, width, 3], from 0 to 255.

    The camera is at `eye` [m] and looks at `target` [m]; `fov` is the angle from the upper to the lower edge [rad].
    """
    scale = math.dist(eye, target) * math.sin(fov / 2.0)
    renderer = Renderer(model, np.zeros(1, dtype=int), Tiles.fitting(1, size), fov, scale)
    return renderer.render(state, look_at(np.array(eye), np.array(target))[None]).copy()


def _round_length(length: float) -> float:
    power = 10.0 ** math.floor(math.log10(length))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= length * (1.0 + 1e-9))
