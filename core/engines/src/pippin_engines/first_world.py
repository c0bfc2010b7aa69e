"""The first world of a model, for engines that read a scene once: joints, shapes, and pairs that may touch."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import attrs
import newton
import numpy as np
from newton import GeoType, JointType
from pippin.arrays import on_host
from pippin.quaternions import conjugate, product, rotated


@attrs.frozen(eq=False)
class WorldJoint:
    """A joint of the first world.

    `kind` is the name of its `newton.JointType`, and a `parent` of -1 is the world. `outer` is its frame in the parent,
    and `inner` in the child: a position [m] and a quaternion xyzw, shape [7]. `axis` is that of a joint of one axis, in
    the frame of the joint, shape [3]. `q` and `qd` are the columns of its coordinates and velocities within a world.
    """

    kind: str
    parent: int
    child: int
    outer: np.ndarray
    inner: np.ndarray
    axis: np.ndarray
    q: list[int]
    qd: list[int]

    @property
    def place(self) -> np.ndarray:
        """Pose of the child in its parent where all coordinates are zero, shape [7]."""
        turn = product(self.outer[3:], conjugate(self.inner[3:]))
        return np.append(self.outer[:3] - rotated(turn, self.inner[:3]), turn)


@attrs.frozen(eq=False)
class WorldShape:
    """A shape of the first world, or of none, that collides.

    `row` is that of the model, `kind` the name of its `newton.GeoType`, and a `body` of -1 is the world. `place` is its
    frame in the body, a position [m] and a quaternion xyzw, shape [7]; `size` is what Newton has as its scale, shape
    [3]; `corners` are those of a mesh in its frame [m], shape [n, 3], and `margin` is a length [m].
    """

    row: int
    label: str
    kind: str
    body: int
    place: np.ndarray
    size: np.ndarray
    corners: np.ndarray
    mu: float
    restitution: float
    margin: float


class FirstWorld:
    """The joints of the first world, and the shapes of it and of no world.

    Args:
        model: Newton's model, on the CPU, whose worlds hold the same.
    """

    def __init__(self, model: newton.Model) -> None:
        self._model = model
        count, starts = (
            model.joint_count // model.world_count,
            [self._of(f"joint_{name}_start") for name in ("q", "qd")],
        )
        #: The joints, in the order of the model.
        self.joints = [self._joint(row, *([*range(*each[row : row + 2])] for each in starts)) for row in range(count)]
        collides = self._of("shape_flags") & int(newton.ShapeFlags.COLLIDE_SHAPES) != 0
        #: The shapes, in the order of the model.
        self.shapes = [self._shape(row) for row in np.flatnonzero(collides & (self._of("shape_world") <= 0)).tolist()]
        rows = {shape.row: shape for shape in self.shapes}
        pairs = self._of("shape_contact_pairs").reshape(-1, 2).tolist() if rows else []
        #: Pairs of shapes that may touch.
        self.touching = [(rows[a], rows[b]) for a, b in pairs if a in rows and b in rows]

    def _of(self, name: str) -> np.ndarray:
        array = getattr(self._model, name)
        return np.zeros(0, int) if array is None else on_host(array)

    def _joint(self, row: int, q: list[int], qd: list[int]) -> WorldJoint:
        parent, child = (int(self._of(f"joint_{end}")[row]) for end in ("parent", "child"))
        outer, inner = (self._of(f"joint_X_{end}")[row].astype(float) for end in ("p", "c"))
        axis = self._of("joint_axis")[qd[0]].astype(float) if len(qd) == 1 else np.zeros(3)
        return WorldJoint(JointType(self._of("joint_type")[row]).name, parent, child, outer, inner, axis, q, qd)

    def _shape(self, row: int) -> WorldShape:
        kind, body = GeoType(self._of("shape_type")[row]).name, int(self._of("shape_body")[row])
        place, size = (self._of(f"shape_{name}")[row].astype(float) for name in ("transform", "scale"))
        corners = size * getattr(self._model.shape_source[row], "vertices", np.zeros((0, 3)))
        surface = (float(self._of(f"shape_{name}")[row]) for name in ("material_mu", "material_restitution", "margin"))
        return WorldShape(row, self._model.shape_label[row], kind, body, place, size, corners, *surface)

    def faults(self, solver: str, kinds: Collection[str]) -> Iterator[str]:
        """Yield what an engine lacks that has free bodies without a parent, and some kinds of shapes.

        Args:
            solver: The name of its solver.
            kinds: Names of its shapes; a plane is one without edges that rests.
        """
        for row, joint in enumerate(self.joints):
            if joint.kind == "FREE" and joint.parent >= 0:
                yield f"type: free joint {self._model.joint_label[row]!r} has a parent; let it hang from the world"
        for shape in self.shapes:
            if shape.kind not in kinds:
                lack = f"{solver!r} has no shapes of the kind {shape.kind.lower()}, as {shape.label!r} is"
                yield f"type: {lack}; set convex_hulls in its asset, or let it be another shape"
            elif shape.kind == "PLANE" and (shape.body >= 0 or shape.size[:2].any()):
                yield f"type: plane {shape.label!r} moves, or has edges; let it be a box, or an endless ground"

    def numbers(self, *names: str) -> dict[str, np.ndarray]:
        """Return arrays of the model by their names, with a row of numbers for each world, shape [W, n]."""
        return {name: self._of(name).reshape(self._model.world_count, -1).astype(float) for name in names}
