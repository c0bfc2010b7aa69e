"""Newton's joint coordinates and MuJoCo's, of all worlds at once.

| joint | | Newton | MuJoCo |
|---|---|---|---|
| free | position | child anchor in the parent anchor's frame, xyzw | body's origin in the world, wxyz |
| | velocity | of the centre of mass, and angular, in the parent anchor's frame | of the origin in the world, angular in the body |
| ball | position | child anchor in the parent anchor's frame, xyzw | body in the frame it rests in, wxyz |
| | velocity | angular, in the parent anchor's frame | angular, in the body |
| others | position | from where the asset was authored | plus the joint's reference there |

Arrays are shaped [worlds, coordinates or DOFs of a world]; both sides count in SI units.
"""  # noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .layout import JointLayout, as_index
from .rotations import JointRotations, LinearMap, turned, turned_back

if TYPE_CHECKING:
    import newton

__all__ = ["BallJoints", "Coordinates", "FreeJoints", "PlainJoints"]


class Coordinates:
    """Where the coordinates of each joint are, and how Newton's become MuJoCo's and back.

    Args:
        model: Newton's model; its joint frames and centres of mass are copied.
        layout: The joints of a world.
    """

    def __init__(self, model: newton.Model, layout: JointLayout) -> None:
        self.plain = PlainJoints(model, layout)
        self.ball = BallJoints(model, layout) if len(layout.ball) else None
        free = FreeJoints(model, layout) if len(layout.free) else None
        self._kinds = [kind for kind in (self.plain, self.ball, free) if kind is not None]

    def to_mujoco(self, joint_q: np.ndarray, joint_qd: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Write MuJoCo's coordinates of every world."""
        for kind in self._kinds:
            kind.to_mujoco(joint_q, joint_qd, qpos, qvel)

    def to_newton(self, qpos: np.ndarray, qvel: np.ndarray, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """Write Newton's coordinates of every world."""
        for kind in self._kinds:
            kind.to_newton(qpos, qvel, joint_q, joint_qd)


class PlainJoints:
    """Every joint whose coordinates are numbers of their own: revolute, prismatic, D6."""

    def __init__(self, model: newton.Model, layout: JointLayout) -> None:
        dofs = layout.dofs(layout.qd, layout.plain)
        self.qd, self.qvel = as_index(dofs), as_index(layout.dofs(layout.qvel, layout.plain))
        """Newton's and MuJoCo's DOFs."""
        self._q, self._qpos = (as_index(layout.dofs(start, layout.plain)) for start in (layout.q, layout.qpos))
        self._reference = layout.reference(model)[:, dofs]

    def to_mujoco(self, joint_q: np.ndarray, joint_qd: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Add the reference."""
        qpos[:, self._qpos] = joint_q[:, self._q] + self._reference
        qvel[:, self.qvel] = joint_qd[:, self.qd]

    def to_newton(self, qpos: np.ndarray, qvel: np.ndarray, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """Take the reference away."""
        joint_q[:, self._q] = qpos[:, self._qpos] - self._reference
        joint_qd[:, self.qd] = qvel[:, self.qvel]


class BallJoints:
    """Joints that leave a body free to turn about a point."""

    def __init__(self, model: newton.Model, layout: JointLayout) -> None:
        joints = layout.ball
        self._q, self._qpos = Columns(layout.q[joints], 4), Columns(layout.qpos[joints], 4)
        self._qd, self._qvel = Columns(layout.qd[joints], 3), Columns(layout.qvel[joints], 3)
        anchor = _by_joint(layout, model.joint_X_c, joints)[..., 3:]
        self._rotations = JointRotations(anchor, anchor)

    def to_mujoco(self, joint_q: np.ndarray, joint_qd: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Go from anchors to bodies."""
        self._qpos.put(qpos, self._rotations.to_mujoco(self._q.of(joint_q)))
        self.to_body(joint_q, joint_qd, qvel)

    def to_newton(self, qpos: np.ndarray, qvel: np.ndarray, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """Go from bodies to anchors."""
        rotation = self._qpos.of(qpos)
        self._q.put(joint_q, self._rotations.to_newton(rotation))
        self._qd.put(joint_qd, turned(self._rotations.matrix(rotation), self._qvel.of(qvel)))

    def to_body(self, joint_q: np.ndarray, vectors: np.ndarray, result: np.ndarray) -> None:
        """Write vectors per DOF, velocities or torques, turned from the parent anchors into the bodies."""
        turn = self._rotations.matrix(self._rotations.to_mujoco(self._q.of(joint_q)))
        self._qvel.put(result, turned_back(turn, self._qd.of(vectors)))


class FreeJoints:
    """Joints that leave a body free in the world, where the parent anchor is fixed.

    With P the rotation of the parent anchor, M the one from the body into it, c the child anchor and o the centre of
    mass in the body: position = Pᵀ (p - anchor) + M c, velocity = Pᵀ v + M (ω × o), spin = M ω.
    """

    def __init__(self, model: newton.Model, layout: JointLayout) -> None:
        joints = layout.free
        self._q, self._qpos = Columns(layout.q[joints], 3), Columns(layout.qpos[joints], 3)
        self._turn, self._rotation = Columns(layout.q[joints] + 3, 4), Columns(layout.qpos[joints] + 3, 4)
        self._qd, self._qvel = Columns(layout.qd[joints], 3), Columns(layout.qvel[joints], 3)
        self._spin, self._omega = Columns(layout.qd[joints] + 3, 3), Columns(layout.qvel[joints] + 3, 3)
        parent, child = (_by_joint(layout, frames, joints) for frames in (model.joint_X_p, model.joint_X_c))
        self._rotations = JointRotations(parent[..., 3:], child[..., 3:])
        self._anchor = parent[..., :3].swapaxes(1, 2)
        com = _by_joint(layout, model.body_com, layout.child[joints])
        self._rows, self._fixed_rows = _rows(com, child[..., :3])

    def to_mujoco(self, joint_q: np.ndarray, joint_qd: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Go from anchors to bodies, and from the centre of mass to the origin."""
        rotation = self._rotations.to_mujoco(self._turn.of(joint_q))
        turn, to_world = self._rotations.matrix(rotation), self._rotations.from_parent
        omega = turned_back(turn, self._spin.of(joint_qd))
        _, swing, child = self._arms(turn, omega)
        self._qpos.put(qpos, self._anchor + to_world(self._q.of(joint_q) - child))
        self._rotation.put(qpos, rotation)
        self._qvel.put(qvel, to_world(self._qd.of(joint_qd) - swing))
        self._omega.put(qvel, omega)

    def to_newton(self, qpos: np.ndarray, qvel: np.ndarray, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """Go from bodies to anchors, and from the origin to the centre of mass."""
        rotation, to_parent = self._rotation.of(qpos), self._rotations.to_parent
        spin, swing, child = self._arms(self._rotations.matrix(rotation), self._omega.of(qvel))
        self._q.put(joint_q, to_parent(self._qpos.of(qpos) - self._anchor) + child)
        self._turn.put(joint_q, self._rotations.to_newton(rotation))
        self._qd.put(joint_qd, to_parent(self._qvel.of(qvel)) + swing)
        self._spin.put(joint_qd, spin)

    def _arms(self, turn: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return M ω, M (ω × o) and M c, each of shape [joints, 3, worlds]."""
        rows = (self._rows(omega) + self._fixed_rows).reshape(turn.shape)
        arms = (rows[:, :, None] * turn[:, None]).sum(3)
        return arms[:, 0], arms[:, 1], arms[:, 2]


class Columns:
    """Some consecutive columns of each joint, in arrays with a row per world."""

    def __init__(self, starts: np.ndarray, width: int) -> None:
        self._index = as_index((starts[:, None] + np.arange(width)).ravel())
        self._shape = (len(starts), width)

    def of(self, array: np.ndarray) -> np.ndarray:
        """Return the columns, shape [joints, width, worlds]."""
        return array.T[self._index].reshape(*self._shape, len(array))

    def put(self, array: np.ndarray, values: np.ndarray) -> None:
        """Write the columns, shape [joints, width, worlds]."""
        array.T[self._index] = values.reshape(-1, len(array))


def _by_joint(layout: JointLayout, array: Any, entries: np.ndarray) -> np.ndarray:
    """Return some entries of each world in double precision, shape [entries, worlds, ...]."""
    return layout.by_world(array)[:, entries].swapaxes(0, 1).astype(float)


def _rows(com: np.ndarray, child: np.ndarray) -> tuple[LinearMap, np.ndarray]:
    """Return what makes the rows ω, ω × o and c of ω: a map to nine numbers, and nine to add."""
    matrices, fixed = np.zeros((*com.shape[:2], 9, 3)), np.zeros((*com.shape[:2], 9))
    matrices[..., :3, :] = np.eye(3)
    matrices[..., 3:6, :] = np.cross(np.eye(3), com[..., None, :]).swapaxes(-1, -2)
    fixed[..., 6:] = child
    return LinearMap(matrices), fixed.swapaxes(1, 2)
