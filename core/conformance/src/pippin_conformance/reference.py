"""Trees of joints in double precision: where they move, from the numbers of Newton's model and nothing else of it.

The equations of motion are those of a tree in world coordinates, as in Featherstone, "Rigid Body Dynamics Algorithms",
2008: twists (velocity of the point at the world's origin, angular velocity), the mass matrix as the sum of J' I J. The
integrator is Runge and Kutta's of fourth order. All worlds of a model move at once; they have the same trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.quaternions import conjugate, cross, product, rotated

_BALL, _FREE = int(newton.JointType.BALL), int(newton.JointType.FREE)
_ROTATING = (_BALL, _FREE)


@attrs.frozen(kw_only=True, eq=False)
class _Link:
    """A joint of the same tree in all worlds, by its rows of Newton's arrays in each world, of shape [W, ...]."""

    kind: int
    parent: int
    """Number of the parent in the tree; -1 for the world."""

    dims: tuple[int, int]
    """Number of linear and of angular axes."""

    body: np.ndarray
    coords: np.ndarray
    dofs: np.ndarray
    frames: tuple[np.ndarray, np.ndarray]
    """Poses of the joint in its parent and in its child, shape [W, 7]."""


class Tree:
    """One articulation in each world, and how it moves.

    Args:
        model: Newton's model of equal worlds.
        first: Index of the articulation among those of a world.
    """

    def __init__(self, model: newton.Model, first: int) -> None:
        self._model, self._worlds = model, model.world_count
        own = on_host(model.joint_articulation).reshape(self._worlds, -1)
        count = on_host(model.articulation_start)[:-1].size // self._worlds
        rows = np.stack([np.flatnonzero(row == first + world * count) for world, row in enumerate(own)])
        rows = rows + np.arange(self._worlds)[:, None] * own.shape[1]
        kinds, parents, children = (on_host(getattr(model, f"joint_{name}")) for name in ("type", "parent", "child"))
        bodies = children[rows[0]].tolist()
        starts, dof_starts = on_host(model.joint_q_start), on_host(model.joint_qd_start)
        frames = on_host(model.joint_X_p).astype(float), on_host(model.joint_X_c).astype(float)
        self._joints = [
            _Link(
                kind=int(kinds[each[0]]),
                parent=bodies.index(parents[each[0]]) if parents[each[0]] >= 0 else -1,
                dims=tuple(on_host(model.joint_dof_dim)[each[0]].tolist()),
                body=children[each],
                coords=_span(starts, each),
                dofs=_span(dof_starts, each),
                frames=(frames[0][each], frames[1][each]),
            )
            for each in rows.T
        ]
        #: Bodies in each world, shape [W, joints].
        self.bodies = children[rows]
        self._columns = np.cumsum([0, *(joint.dofs.shape[1] for joint in self._joints)])

    def run(
        self, state: tuple[np.ndarray, np.ndarray], inputs: Mapping[str, Any], time: float, step: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return `joint_q` and `joint_qd` after a time, with constant inputs.

        Args:
            state: `joint_q` and `joint_qd` of the model, in double precision; what belongs to other trees stays.
            inputs: `gravity` of each world [m/s²], shape [W, 3], and by their names in Newton efforts, targets, gains,
                damping and armature of all joints, and forces on bodies and their masses.
            time: The time [s].
            step: About the length of a step [s].
        """
        q, qd = (values.copy() for values in state)
        count = max(1, round(time / step))
        h = time / count
        for _ in range(count):
            k1 = self.rates(q, qd, inputs)
            k2 = self.rates(q + h / 2 * k1[0], qd + h / 2 * k1[1], inputs)
            k3 = self.rates(q + h / 2 * k2[0], qd + h / 2 * k2[1], inputs)
            k4 = self.rates(q + h * k3[0], qd + h * k3[1], inputs)
            q = q + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
            qd = qd + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
            for joint in self._joints:
                if joint.kind in _ROTATING:
                    turns = joint.coords[:, -4:]
                    q[turns] /= np.linalg.norm(q[turns], axis=1, keepdims=True)
        return q, qd

    def places(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return `body_q` and `body_qd` of the bodies, as in Newton: shapes [W, joints, 7] and [W, joints, 6]."""
        poses, _, jacobians, _, _ = self._kinematics(q, qd)
        velocities = []
        for joint, pose, jacobian in zip(self._joints, poses, jacobians, strict=True):
            twist = np.einsum("wij,wj->wi", jacobian, self.own(qd))
            centre = pose[:, :3] + rotated(pose[:, 3:], self._com(joint))
            velocities.append(np.hstack([twist[:, :3] + cross(twist[:, 3:], centre), twist[:, 3:]]))
        return np.stack(poses, axis=1), np.stack(velocities, axis=1)

    def own(self, values: np.ndarray) -> np.ndarray:
        """Return the DOFs of the tree, shape [W, DOFs]."""
        return np.hstack([values[joint.dofs] for joint in self._joints])

    def _com(self, joint: _Link) -> np.ndarray:
        return on_host(self._model.body_com)[joint.body].astype(float)

    def _kinematics(self, q: np.ndarray, qd: np.ndarray) -> tuple[list, list, list, list, list]:
        """Return of each body: the pose, the twist, the Jacobian, the acceleration at constant `joint_qd`, the rates
        of the joint's coordinates.
        """
        poses, twists, jacobians, biases, rates = [], [], [], [], []
        for index, joint in enumerate(self._joints):
            if joint.parent < 0:
                base = np.tile([0.0, 0, 0, 0, 0, 0, 1], (self._worlds, 1))
                twist, bias = np.zeros((self._worlds, 6)), np.zeros((self._worlds, 6))
                jacobian = np.zeros((self._worlds, 6, self._columns[-1]))
            else:
                base, twist, bias = poses[joint.parent], twists[joint.parent], biases[joint.parent]
                jacobian = jacobians[joint.parent].copy()
            frame = _joined(base, joint.frames[0])
            moved, axes, rate = self._motion(joint, frame, q[joint.coords], qd[joint.dofs])
            below = twist
            for place, (linear, angular, point) in enumerate(axes):
                column = np.hstack([linear + cross(point, angular), angular])
                if joint.kind == _FREE:  # the centre of mass moves by itself, and the directions are the world's
                    change = np.hstack([cross(rotated(frame[:, 3:], qd[joint.dofs[:, :3]]), angular), 0.0 * angular])
                else:  # the axes of a ball are those of the parent; else an axis moves with those before
                    change = _crossed(below if joint.kind == _BALL else twist, column)
                u = qd[joint.dofs[:, place]][:, None]
                twist, bias = twist + u * column, bias + u * change
                jacobian[:, :, self._columns[index] + place] = column
            poses.append(_joined(moved, _inverse(joint.frames[1])))
            for found, value in ((twists, twist), (jacobians, jacobian), (biases, bias), (rates, rate)):
                found.append(value)
        return poses, twists, jacobians, biases, rates

    def _motion(self, joint: _Link, frame: np.ndarray, q: np.ndarray, qd: np.ndarray) -> tuple[Any, list, np.ndarray]:
        """Return the joint's frame in the child; the axes, each a linear and an angular one, and a point on it; and the
        rates of the coordinates.
        """
        none = np.zeros((self._worlds, 3))
        if joint.kind in _ROTATING:
            world = [rotated(frame[:, 3:], np.eye(3)[axis] + none) for axis in range(3)]
            spin = np.hstack([qd[:, -3:], none[:, :1]])
            turning = 0.5 * product(spin, q[:, -4:])
            if joint.kind == _BALL:
                return _joined(frame, np.hstack([none, q])), [(none, axis, frame[:, :3]) for axis in world], turning
            moved = _joined(frame, q)
            child = _joined(moved, _inverse(joint.frames[1]))
            centre = child[:, :3] + rotated(child[:, 3:], self._com(joint))
            arm = rotated(conjugate(frame[:, 3:]), moved[:, :3] - centre)
            axes = [(axis, none, none) for axis in world] + [(none, axis, centre) for axis in world]
            return moved, axes, np.hstack([qd[:, :3] + cross(qd[:, 3:], arm), turning])
        moved, axes = frame.copy(), []
        vectors = on_host(self._model.joint_axis)[joint.dofs].astype(float)
        for place in range(sum(joint.dims)):
            axis, shift = rotated(moved[:, 3:], vectors[:, place]), q[:, place, None]
            if place < joint.dims[0]:
                axes.append((axis, none, none))
                moved[:, :3] += axis * shift
            else:
                axes.append((none, axis, moved[:, :3].copy()))
                moved[:, 3:] = product(np.hstack([axis * np.sin(shift / 2), np.cos(shift / 2)]), moved[:, 3:])
        return moved, axes, qd

    def rates(self, q: np.ndarray, qd: np.ndarray, inputs: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the rates of `joint_q` and `joint_qd`, zero for what belongs to other trees; see `run`."""
        poses, twists, jacobians, biases, rates = self._kinematics(q, qd)
        size = self._columns[-1]
        armature = self.own(inputs["joint_armature"])
        masses, forces = armature[:, :, None] * np.eye(size), self.own(self._efforts(q, qd, inputs))
        for joint, pose, twist, jacobian, bias in zip(self._joints, poses, twists, jacobians, biases, strict=True):
            mass = inputs["body_mass"][joint.body].astype(float)[:, None]
            centre = pose[:, :3] + rotated(pose[:, 3:], self._com(joint))
            turn = np.swapaxes(rotated(pose[:, None, 3:], np.eye(3)), 1, 2)
            moments = turn @ on_host(self._model.body_inertia)[joint.body].astype(float) @ np.swapaxes(turn, 1, 2)
            inertia = _inertia(mass, centre, moments)
            momentum = np.einsum("wij,wj->wi", inertia, twist)
            pushed = inputs["body_f"][joint.body].astype(float)
            pull = pushed[:, :3] + mass * inputs["gravity"]
            acting = np.hstack([pull, pushed[:, 3:] + cross(centre, pull)])
            needed = np.einsum("wij,wj->wi", inertia, bias) + _crossed_force(twist, momentum) - acting
            masses = masses + np.swapaxes(jacobian, 1, 2) @ inertia @ jacobian
            forces = forces - np.einsum("wij,wi->wj", jacobian, needed)
        accelerations = np.linalg.solve(masses, forces[..., None])[..., 0]
        q_rate, qd_rate = np.zeros_like(q), np.zeros_like(qd)
        for index, joint in enumerate(self._joints):
            if joint.coords.size:
                q_rate[joint.coords] = rates[index]
            qd_rate[joint.dofs] = accelerations[:, self._columns[index] : self._columns[index + 1]]
        return q_rate, qd_rate

    def _efforts(self, q: np.ndarray, qd: np.ndarray, inputs: Mapping[str, Any]) -> np.ndarray:
        """Return the efforts of all DOFs: those that are given, of drives, of limits and of damping."""
        efforts = inputs["joint_f"].astype(float) - inputs["joint_damping"] * qd
        model = self._model
        lower, upper, push, drag = (on_host(getattr(model, f"joint_limit_{name}")) for name in _OF_LIMITS)
        for joint in self._joints:
            if joint.kind not in _ROTATING and joint.dofs.size:
                dofs, at, speed = joint.dofs, q[joint.coords], qd[joint.dofs]
                error, lag = inputs["joint_target_q"][joint.coords] - at, inputs["joint_target_qd"][dofs] - speed
                efforts[dofs] += inputs["joint_target_ke"][dofs] * error + inputs["joint_target_kd"][dofs] * lag
                beyond = np.minimum(at - lower[dofs], 0.0) + np.maximum(at - upper[dofs], 0.0)
                efforts[dofs] -= np.where(beyond != 0.0, push[dofs] * beyond + drag[dofs] * speed, 0.0)
        return efforts


_OF_LIMITS = ("lower", "upper", "ke", "kd")


def _span(starts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the numbers that belong to some joints, shape [joints, numbers]."""
    return starts[rows][:, None] + np.arange(starts[rows[0] + 1] - starts[rows[0]])


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return poses in the frames of others."""
    place = first[:, :3] + rotated(first[:, 3:], second[:, :3])
    return np.hstack([place, product(first[:, 3:], second[:, 3:])])


def _inverse(pose: np.ndarray) -> np.ndarray:
    turn = conjugate(pose[:, 3:])
    return np.hstack([-rotated(turn, pose[:, :3]), turn])


def _crossed(twist: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return the rate of a twist that moves with a body."""
    linear = cross(twist[:, 3:], column[:, :3]) + cross(twist[:, :3], column[:, 3:])
    return np.hstack([linear, cross(twist[:, 3:], column[:, 3:])])


def _crossed_force(twist: np.ndarray, momentum: np.ndarray) -> np.ndarray:
    """Return the rate of a momentum (linear, angular about the origin) that moves with a body."""
    angular = cross(twist[:, 3:], momentum[:, 3:]) + cross(twist[:, :3], momentum[:, :3])
    return np.hstack([cross(twist[:, 3:], momentum[:, :3]), angular])


def _inertia(mass: np.ndarray, centre: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Return the inertia about the world's origin, shape [W, 6, 6]."""
    skew = np.swapaxes(cross(centre[:, None], np.eye(3)), 1, 2)  # [c]x
    lever = mass[..., None] * skew
    top = np.concatenate([mass[..., None] * np.eye(3), -lever], axis=2)
    bottom = np.concatenate([lever, moments - lever @ skew], axis=2)
    return np.concatenate([top, bottom], axis=1)
