"""Bounds of what can be seen of a world: the corners of its moving shapes, and its particles."""

from __future__ import annotations

import itertools

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.quaternions import rotated

__all__ = ["bounding_box"]

_ENDLESS = (int(newton.GeoType.PLANE), int(newton.GeoType.HFIELD))


def bounding_box(model: newton.Model, state: newton.State, world: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the lowest and the highest corner of what `model` shows of a world [m], both of shape [3]; None if it
    shows nothing.

    Shapes that are fixed to the world count only if there are no others; planes and height fields never do.
    """
    points = _shape_corners(model, state, world)
    if model.particle_count:
        points.append(on_host(state.particle_q)[on_host(model.particle_world) == world])
    points = [each for each in points if np.isfinite(each).all()]
    if not points:
        return None
    every = np.concatenate(points)
    return every.min(axis=0), every.max(axis=0)


def _shape_corners(model: newton.Model, state: newton.State, world: int) -> list[np.ndarray]:
    is_seen = (on_host(model.shape_flags) & int(newton.ShapeFlags.VISIBLE)) > 0
    bodies = on_host(model.shape_body)
    is_seen &= (on_host(model.shape_world) == world) & ~np.isin(on_host(model.shape_type), _ENDLESS)
    shapes = np.flatnonzero(is_seen & (bodies >= 0))
    shapes = shapes if shapes.size or model.particle_count else np.flatnonzero(is_seen)
    if not shapes.size:
        return []
    return [corners_of(model, shapes, on_host(state.body_q) if (bodies[shapes] >= 0).all() else None)]


def corners_of(model: newton.Model, shapes: np.ndarray, body_q: np.ndarray | None) -> np.ndarray:
    """Return the corners of the boxes around some shapes [m], shape [8 × shapes, 3].

    Without `body_q`, the shapes are fixed to the world.
    """
    ends = np.stack(
        [on_host(each)[shapes] for each in (model.shape_collision_aabb_lower, model.shape_collision_aabb_upper)]
    )
    corners = np.array([ends[list(corner), :, range(3)].T for corner in itertools.product((0, 1), repeat=3)])
    poses = on_host(model.shape_transform)[shapes]
    corners = rotated(poses[:, 3:], corners) + poses[:, :3]
    if body_q is not None:
        poses = body_q[on_host(model.shape_body)[shapes]]
        corners = rotated(poses[:, 3:], corners) + poses[:, :3]
    return corners.reshape(-1, 3)
