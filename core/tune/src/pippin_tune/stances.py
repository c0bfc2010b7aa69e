"""A pose in which a robot can start: inside its limits, with its feet level and below its centre of mass."""

from __future__ import annotations

from collections.abc import Sequence

import newton
import numpy as np
from pippin.arrays import on_host, present
from pippin.quaternions import conjugate, product, rotated

_MARGIN = 0.05
"""Distance from a limit, as a share of the range, of an axis that started outside of its limits."""

_FOOT_SHARE = 0.1
"""Height above the lowest point up to which an outermost body is a foot, as a share of the height of the robot."""

_STAY = 0.05
"""Weight of a change of an axis [1/rad], beside distances in heights of the robot."""

_STEP = 1e-3
_ITERATIONS = 25


class Stance:
    """The pose of the one robot of a model on the CPU, and its feet; `axes` are the degrees of freedom to pose."""

    def __init__(self, model: newton.Model, axes: Sequence[int]) -> None:
        self._model, self._state = model, model.state()
        starts, dofs = on_host(model.joint_q_start), on_host(model.joint_qd_start)
        joints = np.searchsorted(dofs, axes, side="right") - 1
        #: Index of the coordinate of each axis in `joint_q`, shape [axes].
        self.columns = (starts[joints] + np.asarray(axes) - dofs[joints]).astype(int)
        self._low, self._high = (
            on_host(each)[list(axes)] for each in (model.joint_limit_lower, model.joint_limit_upper)
        )
        self._shapes = _shapes(model)
        #: Position of each axis at the start [m or rad], shape [axes].
        self.start = on_host(model.joint_q)[self.columns]
        self._pose(self.start)

    def within_limits(self) -> np.ndarray:
        """Return the start of each axis [m or rad], moved inside if it is outside of its limits, shape [axes]."""
        start, span = self.start, self._high - self._low
        inside = np.clip(start, self._low, self._high)
        moved = np.clip(start, self._low + _MARGIN * span, self._high - _MARGIN * span)
        return np.where((start == inside) | (span <= 0.0) | ~np.isfinite(span), start, moved)

    def balanced(self, start: np.ndarray) -> np.ndarray:
        """Return the positions near some others at which the feet are level, below the centre of mass, shape [axes]."""
        self._pose(start)
        feet, height = self._feet(), self._height()
        rotations = self._bodies[feet, 3:]
        if not feet or not height > 0.0:
            return start

        def errors(positions: np.ndarray) -> np.ndarray:
            self._pose(positions)
            lowest = np.array([self._lowest(body) for body in feet])
            centre = self._centre_of_mass()[:2] - lowest[:, :2].mean(axis=0)
            turned = product(self._bodies[feet, 3:], conjugate(rotations))[:, :2]  # about horizontal axes
            level = lowest[:, 2] - lowest[:, 2].mean()
            return np.concatenate([centre / height, level / height, turned.ravel(), _STAY * (positions - start)])

        positions = start
        for _ in range(_ITERATIONS):
            now = errors(positions)
            columns = [(errors(positions + _STEP * row) - now) / _STEP for row in np.eye(len(positions))]
            change = np.linalg.lstsq(np.array(columns).T, -now, rcond=None)[0]
            moved = np.clip(positions + np.clip(change, -0.3, 0.3), self._low, self._high)
            if np.abs(moved - positions).max() < 1e-4:
                break
            positions = moved
        return positions

    def lowest(self, positions: np.ndarray) -> float:
        """Return the height of the lowest point of what collides [m]; infinite without any."""
        self._pose(positions)
        return min((point[2] for point in map(self._lowest_of, range(len(self._shapes)))), default=np.inf)

    def _pose(self, positions: np.ndarray) -> None:
        coordinates = present(self._state.joint_q)
        whole = on_host(coordinates).copy()
        whole[self.columns] = positions
        coordinates.assign(whole)
        newton.eval_fk(self._model, coordinates, present(self._state.joint_qd), self._state)
        self._bodies = on_host(self._state.body_q)

    def _height(self) -> float:
        heights = self._bodies[:, 2]
        return float(heights.max() - self.lowest(on_host(self._state.joint_q)[self.columns]))

    def _feet(self) -> list[int]:
        parents = set(on_host(self._model.joint_parent).tolist())
        lowest = {body: self._lowest(body)[2] for body, *_ in self._shapes if body not in parents}
        ground = min(lowest.values(), default=0.0)
        return [body for body, height in lowest.items() if height < ground + _FOOT_SHARE * self._height()]

    def _lowest(self, body: int) -> np.ndarray:
        return min(
            (self._lowest_of(row) for row, each in enumerate(self._shapes) if each[0] == body), key=lambda p: p[2]
        )

    def _lowest_of(self, row: int) -> np.ndarray:
        """Return the lowest point of a shape: its points in the world, less the radius around them."""
        body, points, radius = self._shapes[row]
        points = rotated(self._bodies[body, 3:], points) + self._bodies[body, :3]
        lowest = points[:, 2].min()
        return points[points[:, 2] < lowest + 1e-4].mean(axis=0) - (0.0, 0.0, radius)

    def _centre_of_mass(self) -> np.ndarray:
        masses = on_host(self._model.body_mass)
        centres = rotated(self._bodies[:, 3:], on_host(self._model.body_com)) + self._bodies[:, :3]
        return masses @ centres / masses.sum()


def _shapes(model: newton.Model) -> list[tuple[int, np.ndarray, float]]:
    """Return for each shape that collides its body, points of it in the body's frame, and a radius around them."""
    flags, bodies, kinds = (on_host(each) for each in (model.shape_flags, model.shape_body, model.shape_type))
    scales, poses = on_host(model.shape_scale), on_host(model.shape_transform)
    found = []
    for shape in np.flatnonzero((flags & int(newton.ShapeFlags.COLLIDE_SHAPES) > 0) & (bodies >= 0)):
        points, radius = _points(newton.GeoType(int(kinds[shape])), scales[shape], model.shape_source[shape])
        if len(points):
            found.append((int(bodies[shape]), rotated(poses[shape, 3:], points) + poses[shape, :3], radius))
    return found


def _points(kind: newton.GeoType, scale: np.ndarray, source: object) -> tuple[np.ndarray, float]:
    """Return points of a shape and a radius around them, of which the shape is the hull or nearly so."""
    corners = np.stack(np.meshgrid(*[(-1.0, 1.0)] * 3), axis=-1).reshape(-1, 3)
    match kind:
        case newton.GeoType.SPHERE:
            return np.zeros((1, 3)), float(scale[0])
        case newton.GeoType.CAPSULE:
            return np.array([[0.0, 0.0, -scale[1]], [0.0, 0.0, scale[1]]]), float(scale[0])
        case newton.GeoType.BOX:
            return corners * scale, 0.0
        case newton.GeoType.CYLINDER if scale[2] > 0.0:
            radius, half_length, arc = scale.tolist()  # the side is an arc
            barrel = newton.Mesh.create_cylinder(
                radius, half_length, up_axis=newton.Axis.Z, barrel_radius=arc, compute_inertia=False
            )
            return np.asarray(barrel.vertices), 0.0
        case newton.GeoType.CYLINDER | newton.GeoType.CONE:
            turns = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
            ring = np.stack([np.cos(turns) * scale[0], np.sin(turns) * scale[0], np.full(16, scale[1])], axis=-1)
            return np.concatenate([ring, ring * (1.0, 1.0, -1.0)]), 0.0
        case newton.GeoType.ELLIPSOID:
            return np.concatenate([np.eye(3), -np.eye(3), corners / np.sqrt(3.0)]) * scale, 0.0
        case newton.GeoType.MESH | newton.GeoType.CONVEX_MESH:
            return np.asarray(getattr(source, "vertices", np.zeros((0, 3)))) * scale, 0.0
    return np.zeros((0, 3)), 0.0
