"""Joints that yield: what they hold, and how far those that are springs give way."""

from __future__ import annotations

import attrs
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.quaternions import matrix

_FREE = tuple(int(newton.JointType[name]) for name in ("FREE", "DISTANCE", "ROD"))

_LEAST = 1e-4
"""Distance by which a joint gives way that is worth a note [m]."""


def soft_joint_notes(model: newton.Model, stiffness: float, key: str) -> list[str]:
    """Return a note with the joint that gives way most under the weight that it carries, if it is more than 0.1 mm.

    Args:
        model: Newton's model; the joints of its first world are looked at.
        stiffness: Of each joint [N/m].
        key: That of the configuration.
    """
    joints = np.flatnonzero(on_host(model.joint_world) <= 0) if model.joint_count else []
    kinds, parents, children = (on_host(getattr(model, f"joint_{name}")) for name in ("type", "parent", "child"))
    loads, most = on_host(model.body_mass).astype(float), (0.0, "")
    for joint in reversed(joints):  # of a tree, children come after their parents
        load = loads[children[joint]]
        if parents[joint] >= 0:
            loads[parents[joint]] += load
        if kinds[joint] not in _FREE:
            most = max(most, (load, model.joint_label[joint]))
    sag = most[0] * float(np.linalg.norm(on_host(model.gravity)[0])) / stiffness if stiffness else 0.0
    if sag < _LEAST:
        return []
    return [
        f"joints are springs of {stiffness:g} N/m, which give way: {most[1]!r} by up to {1e3 * sag:.2g} mm under the"
        f" weight that it carries; raise solver.{key}, which needs shorter steps"
    ]


@attrs.frozen(eq=False)
class JointRows:
    """Rows of joints: three distances [m] and three angles [rad], in world axes, that each of the first world holds.

    Bodies move in units in which their masses and principal moments are 1: metres times the root of kilograms.
    """

    joints: np.ndarray
    """Indices of the enabled joints that hold a body, shape [joints]."""

    bodies: np.ndarray
    """Their children and parents, shape [2, joints]; those that stand still have no rows."""

    rows: np.ndarray
    """What a motion of a body adds to the distances and angles, shape [2, joints, 6, 6]."""

    falls: np.ndarray
    """Motion of each body by gravity, per square of a time [s²], shape [bodies, 6]."""

    @classmethod
    def of(cls, model: newton.Model, *, holds_bases: bool = False, is_free: bool = False) -> JointRows:
        """Return the rows at the start pose.

        Args:
            model: Newton's model.
            holds_bases: Whether bodies that no joint holds, such as the base of a robot that floats, stand still.
            is_free: Whether the rows are those that the joints leave free.
        """
        if not model.joint_count:
            return cls(np.zeros(0, int), np.zeros((2, 0), int), np.zeros((2, 0, 6, 6)), np.zeros((model.body_count, 6)))
        kinds, worlds, enabled = (on_host(getattr(model, f"joint_{name}")) for name in ("type", "world", "enabled"))
        joints = np.flatnonzero((worlds <= 0) & enabled & ~np.isin(kinds, _FREE))
        poses, com, masses = (on_host(getattr(model, f"body_{name}")) for name in ("q", "com", "inv_mass"))
        moments, axes = np.linalg.eigh(on_host(model.body_inv_inertia).astype(float))
        turns, children = matrix(poses[:, 3:]), on_host(model.joint_child)[joints]
        roots = turns @ axes * np.sqrt(moments.clip(0.0))[:, None, :]
        is_still = (masses == 0.0) | (holds_bases & ~np.isin(np.arange(model.body_count), children))
        held, bodies, sides = _held(model, joints, turns[children]), [], []
        held = np.eye(6) - held if is_free else held
        for sign, end, frames in ((1.0, "child", "X_c"), (-1.0, "parent", "X_p")):
            own, places = (on_host(getattr(model, f"joint_{name}"))[joints] for name in (end, frames))
            arms = np.einsum("jab,jb->ja", turns[own], places[:, :3] - com[own])
            rows = np.zeros((len(joints), 6, 6))
            rows[:, :3, :3] = np.eye(3) * np.sqrt(masses[own])[:, None, None]
            rows[:, :3, 3:] = np.cross(arms[:, None, :], np.eye(3)) @ roots[own]
            rows[:, 3:, 3:] = roots[own]
            bodies.append(own.clip(0))
            sides.append(sign * (held @ rows) * ~((own < 0) | is_still[own])[:, None, None])
        falls = on_host(model.gravity)[0] / np.sqrt(np.where(is_still, np.inf, masses))[:, None]
        return cls(joints, np.stack(bodies), np.stack(sides), np.hstack([falls, np.zeros_like(falls)]))

    def gaps(self, moved: np.ndarray) -> np.ndarray:
        """Return the distances and angles to which bodies open their joints, shape [joints, 6].

        Args:
            moved: Motions of the bodies, shape [bodies, 6].
        """
        return np.einsum("sjrk,sjk->jr", self.rows, moved[self.bodies])

    def push(self, moved: np.ndarray, impulses: np.ndarray) -> None:
        """Move the bodies of the joints by impulses.

        Args:
            moved: Motions of the bodies, shape [bodies, 6].
            impulses: What each joint pushes its child with, and draws its parent, shape [joints, 6].
        """
        np.add.at(moved, self.bodies, np.einsum("sjrk,jr->sjk", self.rows, impulses))


def _held(model: newton.Model, joints: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Return projections of distances and angles to what joints hold, shape [joints, 6, 6].

    Args:
        model: Newton's model.
        joints: Indices of the joints.
        turns: Rotations of their children, shape [joints, 3, 3].
    """
    names = ("type", "X_c", "axis", "qd_start", "dof_dim")
    kinds, frames, axes, starts, dims = (on_host(getattr(model, f"joint_{name}")) for name in names)
    frame, held = turns @ matrix(frames[joints, 3:]), np.tile(np.eye(6), (len(joints), 1, 1))
    for place, joint in enumerate(joints):
        first, linear = starts[joint], starts[joint] + dims[joint, 0]
        for part, free in ((0, axes[first:linear]), (3, axes[linear : linear + dims[joint, 1]])):
            if len(free) and kinds[joint] != newton.JointType.BALL:
                ways = np.linalg.qr(frame[place] @ free.T)[0]
                held[place, part : part + 3, part : part + 3] -= ways @ ways.T
        if kinds[joint] == newton.JointType.BALL:
            held[place, 3:, 3:] = 0.0
    return held
