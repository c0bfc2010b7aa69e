"""The first world of a model, for engines that read a scene once: joints, shapes, and pairs that may touch."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import attrs
import newton
import numpy as np
from newton import GeoType, JointType
from pippin.arrays import on_host
from pippin.quaternions import conjugate, product, rotated

BY_AXES = ("PRISMATIC", "REVOLUTE", "D6")
"""Kinds of joints that have axes with a coordinate for each."""

FAR = 1e6
"""Coordinates [m, rad] and efforts [N, N·m] from which Newton's builders mean that nothing is limited."""


@attrs.frozen(eq=False)
class WorldJoint:
    """A joint of the first world. Frames are a position [m] and a quaternion xyzw."""

    kind: str
    """The name of its `newton.JointType`."""

    parent: int
    """The body that it hangs from; -1 is the world."""

    child: int
    """The body that it moves."""

    outer: np.ndarray
    """Its frame in the parent, shape [7]."""

    inner: np.ndarray
    """Its frame in the child, shape [7]."""

    axes: np.ndarray
    """Axes of a hinge, slider or `D6`, those of sliding first, in the frame of the joint, shape [n, 3]; none of others.
    """

    slides: int
    """How many of them are of sliding."""

    q: list[int]
    """Columns of its coordinates within a world."""

    qd: list[int]
    """Columns of its velocities within a world."""

    @property
    def axis(self) -> np.ndarray:
        """The axis of a joint of one, shape [3]; zero for others."""
        return self.axes[0] if len(self.axes) == 1 else np.zeros(3)

    @property
    def place(self) -> np.ndarray:
        """Pose of the child in its parent where all coordinates are zero, shape [7]."""
        turn = product(self.outer[3:], conjugate(self.inner[3:]))
        return np.append(self.outer[:3] - rotated(turn, self.inner[:3]), turn)


@attrs.frozen(eq=False)
class WorldShape:
    """A shape of the first world, or of none, that collides."""

    row: int
    """Its row in the model."""

    label: str
    """Its label in the model."""

    kind: str
    """The name of its `newton.GeoType`."""

    body: int
    """The body that has it; -1 is the world."""

    place: np.ndarray
    """Its frame in the body, a position [m] and a quaternion xyzw, shape [7]."""

    size: np.ndarray
    """What Newton has as its scale, shape [3]."""

    corners: np.ndarray
    """Corners in its frame [m], shape [n, 3], of a mesh, or of a hull within 5 % of an ellipsoid; none of others."""

    mu: float
    """Its friction."""

    restitution: float
    """Its restitution."""

    margin: float
    """Its margin [m]."""

    @property
    def matrix(self) -> np.ndarray:
        """Images of the axes in the body, which are half a box, and of the origin, in rows, shape [4, 4]."""
        found, sizes = np.eye(4), self.size if self.kind == "BOX" else np.ones(3)
        found[:3, :3], found[3, :3] = rotated(self.place[3:], np.diag(sizes)), self.place[:3]
        return found


class FirstWorld:
    """The joints of the first world, and the shapes of it and of no world.

    Args:
        model: Newton's model, on the CPU, whose worlds hold the same.
    """

    def __init__(self, model: newton.Model) -> None:
        self._model = model
        count = model.joint_count // model.world_count
        starts = [self._of(f"joint_{name}_start") for name in ("q", "qd")]
        #: The joints, in the order of the model.
        self.joints: list[WorldJoint] = [
            self._joint(row, *([*range(*each[row : row + 2])] for each in starts)) for row in range(count)
        ]
        collides = self._of("shape_flags") & int(newton.ShapeFlags.COLLIDE_SHAPES) != 0
        #: The shapes, in the order of the model.
        self.shapes: list[WorldShape] = [
            self._shape(row) for row in np.flatnonzero(collides & (self._of("shape_world") <= 0)).tolist()
        ]
        rows = {shape.row: shape for shape in self.shapes}
        pairs = self._of("shape_contact_pairs").reshape(-1, 2).tolist() if rows else []
        #: Pairs of shapes that may touch.
        self.touching: list[tuple[WorldShape, WorldShape]] = [
            (rows[a], rows[b]) for a, b in pairs if a in rows and b in rows
        ]

    def _of(self, name: str) -> np.ndarray:
        array = getattr(self._model, name)
        return np.zeros(0, int) if array is None else on_host(array)

    def _joint(self, row: int, q: list[int], qd: list[int]) -> WorldJoint:
        parent, child = (int(self._of(f"joint_{end}")[row]) for end in ("parent", "child"))
        outer, inner = (self._of(f"joint_X_{end}")[row].astype(float) for end in ("p", "c"))
        kind, slides = JointType(self._of("joint_type")[row]).name, int(self._of("joint_dof_dim")[row, 0])
        axes = self._of("joint_axis")[qd if kind in BY_AXES else []].astype(float).reshape(-1, 3)
        return WorldJoint(kind, parent, child, outer, inner, axes, slides, q, qd)

    def _shape(self, row: int) -> WorldShape:
        kind, body = GeoType(self._of("shape_type")[row]).name, int(self._of("shape_body")[row])
        place, size = (self._of(f"shape_{name}")[row].astype(float) for name in ("transform", "scale"))
        points = _ball() if kind == "ELLIPSOID" else np.zeros((0, 3))
        corners = size * getattr(self._model.shape_source[row], "vertices", points)
        surface = (float(self._of(f"shape_{name}")[row]) for name in ("material_mu", "material_restitution", "margin"))
        return WorldShape(row, self._model.shape_label[row], kind, body, place, size, corners, *surface)

    def faults(
        self, solver: str, kinds: Collection[str], corners: float = np.inf, *, across_joints: bool = True
    ) -> Iterator[str]:
        """Yield what an engine lacks that has free bodies without a parent, and some kinds of shapes.

        Args:
            solver: The name of its solver.
            kinds: Names of its shapes; a plane is one without edges that rests.
            corners: Most corners of its meshes.
            across_joints: Whether the bodies of a joint may touch.
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
            elif len(shape.corners) > corners:
                yield f"type: mesh {shape.label!r} has more than {corners} points, which {solver!r} drops; reduce it"
        linked = () if across_joints else [{joint.parent, joint.child} for joint in self.joints if joint.parent >= 0]
        for first, second in self.touching:
            if {first.body, second.body} in linked:
                pair = f"{first.label!r} and {second.label!r} may touch across a joint, as they never do in {solver!r}"
                yield f"type: {pair}; let their pair be filtered"

    def apart(self, shape: WorldShape) -> list[WorldShape]:
        """Return the later shapes of other bodies that a shape never touches.

        Args:
            shape: One of the shapes.
        """
        touched = {other.row for pair in self.touching if shape in pair for other in pair}
        later = (other for other in self.shapes if other.row > shape.row and other.body != shape.body)
        return [other for other in later if other.row not in touched]

    def numbers(self, *names: str) -> list[np.ndarray]:
        """Return arrays of the model, with what each world has in a row, shape [W, n, ...].

        Args:
            *names: Their names.
        """
        arrays, count = map(self._of, names), self._model.world_count
        return [array.reshape(count, len(array) // count, *array.shape[1:]).astype(float) for array in arrays]


def _ball() -> np.ndarray:
    """Return 34 points around a ball of radius 1, mirrored at all planes of the axes: their hull is within 5 %."""
    turns, tilts = (np.arange(8) + 0.5) * np.pi / 4.0, np.radians((47.0, 78.0, 102.0, 133.0))
    rings = [(np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)) for a in tilts for b in turns]
    return 1.049 * np.array([(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), *rings])
