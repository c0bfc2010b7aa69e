"""Tendons as viewers draw them: lines from guide to guide, which bend around rollers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import attrs
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.quaternions import rotated

_ARC = 12
"""Parts of the bend around a roller."""

_ROUNDS = 10
"""Rounds in which the ends of a span between two rollers find each other; one is enough with a point."""

_BACKWARDS = 1.5 * np.pi
"""Turn around a roller above which the tendon is past the straight way, and turns back [rad]."""


@attrs.frozen(kw_only=True, eq=False)
class RenderTendon:
    """One tendon of one world."""

    color: ClassVar[tuple[float, float, float]] = (0.16, 0.17, 0.2)
    """Red, green and blue from 0 to 1."""

    label: str
    """Label of the tendon."""

    world: int
    """Index of the world; -1 for none."""

    bodies: np.ndarray
    """Body of each guide, shape [guides]; -1 for the world."""

    places: np.ndarray
    """Point, or centre of the roller, of each guide in the frame of its body [m], shape [guides, 3]."""

    axes: np.ndarray
    """Axis of each guide in the frame of its body, shape [guides, 3]."""

    radii: np.ndarray
    """Radius of each roller [m], shape [guides]; 0 for a point."""

    sides: np.ndarray
    """Sense of the turn around the axis of each roller, 1 or -1, shape [guides]."""

    is_dynamic: np.ndarray
    """Whether the tendon leaves each roller while its way is straight, shape [guides]."""

    @property
    def point_count(self) -> int:
        """Number of points of the line, at any time."""
        return len(self.bodies) + _ARC * int((self.radii[1:-1] > 0.0).sum())

    def points(self, body_q: np.ndarray) -> np.ndarray:
        """Return the points of the line in the world [m], shape [point_count, 3].

        Args:
            body_q: Poses of the bodies of the model, shape [bodies, 7].
        """
        poses = np.zeros((len(self.bodies), 7))
        poses[:, 6] = 1.0
        on_body = self.bodies >= 0
        poses[on_body] = body_q[self.bodies[on_body]]
        centres = rotated(poses[:, 3:], self.places) + poses[:, :3]
        axes = rotated(poses[:, 3:], self.axes)
        guides = list(range(len(self.bodies)))
        left = [each for each in guides if self.is_dynamic[each] and self._is_left(each, centres, axes)]
        ends = self._ends([each for each in guides if each not in left], centres, axes)
        line = [ends[0][1][None]]
        for guide in guides[1:-1]:
            if not self.radii[guide]:
                line.append(centres[guide][None])
            elif guide in left:  # as many points as ever
                line.append(np.repeat(line[-1][-1:], _ARC + 1, axis=0))
            else:
                line.append(self._bend(guide, centres, axes, ends))
        return np.concatenate([*line, ends[guides[-1]][0][None]])

    def _ends(self, guides: Sequence[int], centres: np.ndarray, axes: np.ndarray) -> list[list[np.ndarray]]:
        ends = [[centre, centre] for centre in centres]
        for left, right in pairwise(guides):
            for _ in range(_ROUNDS if self.radii[left] and self.radii[right] else 1):
                ends[right][0] = self._tangent(ends[left][1], right, centres, axes, self.sides[right])
                ends[left][1] = self._tangent(ends[right][0], left, centres, axes, -self.sides[left])
        return ends

    def _is_left(self, guide: int, centres: np.ndarray, axes: np.ndarray) -> bool:
        ends = self._ends([each for each in range(len(centres)) if each != guide], centres, axes)
        start, end = ends[guide - 1][1], ends[guide + 1][0]
        distance = axes[guide] @ np.cross(start - centres[guide], end - start) / np.linalg.norm(end - start)
        return bool(self.sides[guide] * distance >= self.radii[guide])

    def _tangent(self, point: np.ndarray, guide: int, centres: np.ndarray, axes: np.ndarray, side: float) -> np.ndarray:
        """Return where a line from a point touches a roller on one side; the place of a guide without a radius."""
        centre, axis, radius = centres[guide], axes[guide], float(self.radii[guide])
        towards = point - centre
        towards = towards - (towards @ axis) * axis
        distance = float(np.linalg.norm(towards))
        if not radius or not distance:
            return centre
        along = towards / distance
        cosine = min(radius / distance, 1.0)
        return centre + radius * (cosine * along + side * np.sqrt(1.0 - cosine**2) * np.cross(axis, along))

    def _bend(self, guide: int, centres: np.ndarray, axes: np.ndarray, ends: list[list[np.ndarray]]) -> np.ndarray:
        first, last = (end - centres[guide] for end in ends[guide])
        turn = self.sides[guide] * np.arctan2(last @ np.cross(axes[guide], first), last @ first) % (2.0 * np.pi)
        turn = float(turn - 2.0 * np.pi if turn > _BACKWARDS else turn)  # in its own sense
        angles = self.sides[guide] * np.linspace(0.0, turn, _ARC + 1)[:, None]
        return centres[guide] + np.cos(angles) * first + np.sin(angles) * np.cross(axes[guide], first)


def render_tendons(model: newton.Model, worlds: Sequence[int] | np.ndarray) -> list[RenderTendon]:
    """Return the tendons of some worlds and of none, in the order of the model.

    Args:
        model: The model; read from the device.
        worlds: Indices of worlds.
    """
    if not model.tendon_count:
        return []
    starts, of_worlds = on_host(model.tendon_start), on_host(model.tendon_world)
    names = ("body", "type", "radius", "orientation", "offset", "axis", "flags")
    arrays = (on_host(getattr(model, f"tendon_guide_{name}")) for name in names)
    bodies, types, radii, sides, places, axes, flags = arrays
    found = []
    for tendon in np.flatnonzero(np.isin(of_worlds, [-1, *np.asarray(worlds).tolist()])).tolist():
        own = slice(int(starts[tendon]), int(starts[tendon + 1]))
        is_roller = types[own] == int(newton.TendonGuideType.ROLLER)
        found.append(
            RenderTendon(
                label=model.tendon_label[tendon],
                world=int(of_worlds[tendon]),
                bodies=bodies[own],
                places=places[own].astype(float),
                axes=axes[own] / np.maximum(np.linalg.norm(axes[own], axis=1, keepdims=True), 1e-12),
                radii=np.where(is_roller, radii[own], 0.0).astype(float),
                sides=sides[own].astype(float),
                is_dynamic=is_roller & ((flags[own] & int(newton.TendonGuideFlags.DYNAMIC)) > 0),
            )
        )
    return found


def segments_of(
    tendons: Sequence[RenderTendon], body_q: np.ndarray | None, offsets: np.ndarray | None = None
) -> np.ndarray:
    """Return the straight parts of some tendons [m], shape [parts, 2, 3], in their order.

    Args:
        tendons: The tendons.
        body_q: Poses of the bodies of the model, shape [bodies, 7]; None if there are no bodies.
        offsets: Position at which each world is drawn [m], shape [worlds, 3].
    """
    poses, parts = np.zeros((0, 7)) if body_q is None else body_q, [np.zeros((0, 2, 3))]
    for seen in tendons:
        points = seen.points(poses)
        if offsets is not None and seen.world >= 0:
            points = points + offsets[seen.world]
        parts.append(np.stack([points[:-1], points[1:]], axis=1))
    return np.concatenate(parts)


def line_radius(scale: float) -> float:
    """Return the radius of a drawn line [m].

    Args:
        scale: Size of what is in sight [m].
    """
    return 0.006 * scale
