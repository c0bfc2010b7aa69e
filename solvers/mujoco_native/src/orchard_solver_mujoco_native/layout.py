"""Where the joints of a world are, in Newton's arrays and in MuJoCo's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import newton

__all__ = ["JointLayout", "as_index"]

_MAX_VIEWS = 64
"""Arrays kept in mind; a step needs about ten."""


class JointLayout:
    """The joints of one world; all worlds have the same ones, in the same order.

    Args:
        model: Newton's model.
        solver: Newton's conversion of it, which knows the order of MuJoCo's joints.
    """

    def __init__(self, model: newton.Model, solver: newton.solvers.SolverMuJoCo) -> None:
        import newton

        self._views: dict[int, tuple[Any, np.ndarray]] = {}
        self.world_count = model.world_count
        self.body_count = model.body_count // model.world_count
        """Bodies of a world."""
        count = model.joint_count // model.world_count
        types = self.by_world(model.joint_type)[0]
        self.child = self.by_world(model.joint_child)[0]
        """Body that each joint moves, counted within the world."""
        self.axis_count = self.by_world(model.joint_dof_dim)[0].sum(axis=1)
        """DOFs of each joint that is neither free nor ball."""
        self.q, self.qd = _host(model.joint_q_start)[:count], _host(model.joint_qd_start)[:count]
        """Newton's first coordinate and first DOF of each joint."""
        self.qpos, self.qvel = _host(solver.mj_q_start)[:count], _host(solver.mj_qd_start)[:count]
        """MuJoCo's; -1 for a joint that closes a loop, which MuJoCo has no coordinates for."""
        is_moving = self.qpos >= 0
        self.free = np.flatnonzero(is_moving & (types == newton.JointType.FREE))
        self.ball = np.flatnonzero(is_moving & (types == newton.JointType.BALL))
        self.plain = np.setdiff1d(np.flatnonzero(is_moving), np.concatenate([self.free, self.ball]))

    def by_world(self, array: Any) -> np.ndarray:
        """Return a view with an axis for worlds in front, shape [world_count, entries of a world, ...]."""
        # Making a view takes as long as reading a small one, and a step is given the same arrays over and over.
        known, view = self._views.get(id(array), (None, np.empty(0)))
        if known is None or known is not array:
            values = _host(array)
            view = values.reshape(self.world_count, len(values) // self.world_count, *values.shape[1:])
            if len(self._views) == _MAX_VIEWS:
                self._views.clear()
            self._views[id(array)] = array, view
        return view

    def reference(self, model: newton.Model) -> np.ndarray:
        """Return MuJoCo's coordinate where Newton's is zero [m or rad], shape [world_count, DOFs]."""
        reference = getattr(getattr(model, "mujoco", None), "dof_ref", None)
        if reference is None:
            return np.zeros((self.world_count, model.joint_dof_count // self.world_count))
        return self.by_world(reference).astype(float)

    def dofs(self, start: np.ndarray, joints: np.ndarray) -> np.ndarray:
        """Return the indices of all DOFs of some joints, one joint after the other."""
        ranges = [int(start[joint]) + np.arange(int(self.axis_count[joint])) for joint in joints]
        return np.concatenate([np.zeros(0, dtype=int), *ranges])


def as_index(indices: np.ndarray) -> Any:
    """Return indices as a slice where they are consecutive: NumPy copies a slice several times as fast."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def _host(array: Any) -> np.ndarray:
    assert array is not None, "a finalized model has what it counts"
    return array.numpy()
