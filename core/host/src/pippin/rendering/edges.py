"""Edges of an image, drawn again with several rays per pixel: few pixels, so that smooth edges cost little."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import warp as wp

from .kernels import blend, find_edges, gather

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
