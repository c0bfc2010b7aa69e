"""Joints of Newton in the columns of an engine: coordinates, velocities and efforts of all worlds, in doubles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import newton
import numpy as np
from attrs.validators import in_
from pippin.arrays import on_host
from pippin.quaternions import conjugate, product, rotated

_FREE, _BALL = int(newton.JointType.FREE), int(newton.JointType.BALL)


def _choice(default: str, *others: str) -> Any:
    return attrs.field(default=default, validator=in_((default, *others)))


@attrs.frozen(kw_only=True)
class EngineFrames:
    """Conventions of an engine for free and ball joints. The defaults are Newton's; hinges and sliders need none."""

    quaternion: Literal["xyzw", "wxyz"] = _choice("xyzw", "wxyz")
    """Order of the numbers of a quaternion."""

    pose: Literal["joint", "body"] = _choice("joint", "body")
    """Free joints: `"joint"`: the coordinates are the pose of the child's joint frame in the parent's. `"body"`: they
    are the pose of the body's origin in the world."""

    place: Literal["first", "last"] = _choice("first", "last")
    """Free joints: whether the position comes before or behind the quaternion."""

    linear: Literal["first", "last"] = _choice("first", "last")
    """Free joints: whether the linear velocity comes before or behind the angular one, and the force likewise."""

    point: Literal["com", "origin"] = _choice("com", "origin")
    """Free joints: the point of the linear velocity, at which a force acts that has no torque: the centre of mass, or
    the origin of the frame that `pose` names."""

    linear_axes: Literal["outer", "inner"] = _choice("outer", "inner")
    """Free joints: axes of linear velocities and forces: of the outer frame, that of the parent or the world, or of the
    inner one, that of the child or the body."""

    angular_axes: Literal["outer", "inner"] = _choice("outer", "inner")
    """Free and ball joints: axes of angular velocities and torques."""


class JointMap:
    """The joints of a world in the order of an engine, whose columns follow each other without gaps.

    A fixed joint has no columns. A ball joint has 4 coordinates and 3 velocities, a free one 7 and 6, and others have
    as many as axes.

    Args:
        model: Newton's model of equal worlds.
        frames: How the engine writes free and ball joints.
        joints: Newton's joints in the order of the engine, counted within a world; by default all of them.

    Raises:
        ValueError: A joint has coordinates of another kind.
    """

    def __init__(
        self, model: newton.Model, frames: EngineFrames | None = None, joints: Sequence[int] | None = None
    ) -> None:
        self._frames, self._model = frames or EngineFrames(), model
        count = model.joint_count // model.world_count
        kinds = on_host(model.joint_type)[:count].tolist()
        starts = [on_host(getattr(model, f"joint_{name}_start"))[: count + 1].tolist() for name in ("q", "qd")]
        known, columns = {"q": [], "qd": []}, {"q": [0], "qd": [0]}
        for joint in range(count) if joints is None else joints:
            for name, start in zip(("q", "qd"), starts, strict=True):
                known[name] += range(start[joint], start[joint + 1])
                columns[name].append(len(known[name]))
            sizes = columns["q"][-1] - columns["q"][-2], columns["qd"][-1] - columns["qd"][-2]
            if sizes[0] != sizes[1] and kinds[joint] not in (_FREE, _BALL):
                raise ValueError(f"joint {model.joint_label[joint]!r} is {newton.JointType(kinds[joint]).name}")
        self._order = {name: np.array(each, dtype=int) for name, each in known.items()}
        #: First column of each joint, and their number at the end: of coordinates, and of velocities and efforts.
        self.q_start, self.qd_start = columns["q"], columns["qd"]
        order = list(range(count) if joints is None else joints)
        self._turning = [
            _Turning(model, [(place, joint) for place, joint in enumerate(order) if kinds[joint] == kind], self)
            for kind in (_FREE, _BALL)
        ]

    def read(self, state: newton.State, worlds: np.ndarray, q: np.ndarray, qd: np.ndarray) -> None:
        """Write the joints of a state into the engine's numbers.

        Args:
            state: Newton's state, on the CPU.
            worlds: True for each world to read, shape [W] or [W + 1].
            q: The engine's coordinates, shape [W, q_start[-1]].
            qd: Its velocities, shape [W, qd_start[-1]].
        """
        chosen = np.flatnonzero(worlds[: self._model.world_count])
        if not chosen.size:
            return
        own_q, own_qd = (self._of(state, name)[chosen] for name in ("q", "qd"))
        for joints in self._turning:
            joints.to_engine(own_q, own_qd, chosen, self._frames)
        q[chosen], qd[chosen] = own_q, own_qd

    def write(self, q: np.ndarray, qd: np.ndarray, state: newton.State) -> None:
        """Write the engine's numbers into the joints of a state.

        Args:
            q: The engine's coordinates, shape [W, q_start[-1]]; quaternions need not have the length 1.
            qd: Its velocities, shape [W, qd_start[-1]].
            state: Newton's state, on the CPU.
        """
        own_q, own_qd = q.astype(float), qd.astype(float)
        for joints in self._turning:
            joints.to_newton(own_q, own_qd, self._frames)
        for name, values in (("q", own_q), ("qd", own_qd)):
            array = on_host(getattr(state, f"joint_{name}"))
            array.reshape(len(values), -1)[:, self._order[name]] = values

    def efforts(self, control: newton.Control, q: np.ndarray) -> np.ndarray:
        """Return the efforts of the control as the engine's generalized forces, shape [W, qd_start[-1]].

        Args:
            control: Newton's control, on the CPU.
            q: The engine's coordinates, shape [W, q_start[-1]]: forces turn with bodies.
        """
        values = self._of(control, "f", "qd")
        for joints in self._turning:
            joints.forces_to_engine(values, q, self._frames)
        return values

    def _of(self, owner: Any, name: str, order: str = "") -> np.ndarray:
        array = on_host(getattr(owner, f"joint_{name}"))
        return array.reshape(self._model.world_count, -1)[:, self._order[order or name]].astype(float)


class _Turning:
    """The free joints, or the ball joints, of all worlds: joints that have a quaternion."""

    def __init__(self, model: newton.Model, joints: Sequence[tuple[int, int]], within: JointMap) -> None:
        self._count = len(joints)
        if not joints:
            return
        places, rows = np.array(joints).T
        is_free = int(on_host(model.joint_type)[rows[0]]) == _FREE
        self._q = np.array(within.q_start)[places, None] + np.arange(7 if is_free else 4)
        self._qd = np.array(within.qd_start)[places, None] + np.arange(6 if is_free else 3)
        self._is_free = is_free
        worlds = model.world_count
        of_worlds = rows + np.arange(worlds)[:, None] * (model.joint_count // worlds)
        self._outer, self._inner = (
            on_host(getattr(model, f"joint_X_{end}")).astype(float)[of_worlds] for end in ("p", "c")
        )
        self._bodies, self._com = on_host(model.joint_child)[of_worlds], model.body_com

    def _frame(self, frames: EngineFrames, worlds: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the outer and the inner frame in the engine's, and the centre of mass in the inner one."""
        com = on_host(self._com).astype(float)[self._bodies[worlds]]
        if self._is_free and frames.pose == "body":
            return self._outer[worlds], self._inner[worlds], com
        none = np.zeros_like(self._outer[worlds])
        none[..., 6] = 1.0
        inner = self._inner[worlds]
        return none, none, rotated(conjugate(inner[..., 3:]), com - inner[..., :3])

    def to_engine(self, q: np.ndarray, qd: np.ndarray, worlds: Any, frames: EngineFrames) -> None:
        if not self._count:
            return
        outer, inner, com = self._frame(frames, worlds)
        pose, velocity = q[:, self._q], qd[:, self._qd]
        pose[..., -4:] /= np.linalg.norm(pose[..., -4:], axis=-1, keepdims=True)
        if self._is_free:
            pose = _joined(_joined(outer, pose), _inverse(inner))
            turn, turns = pose[..., 3:], outer[..., 3:]
            linear, angular = rotated(turns, velocity[..., :3]), rotated(turns, velocity[..., 3:])
            if frames.point == "origin":
                linear = linear - np.cross(angular, rotated(turn, com))
            parts = _in_axes(linear, turn, frames.linear_axes), _in_axes(angular, turn, frames.angular_axes)
            qd[:, self._qd] = np.concatenate(parts if frames.linear == "first" else parts[::-1], axis=-1)
        else:
            qd[:, self._qd] = _in_axes(velocity, pose, frames.angular_axes)
        q[:, self._q] = _written(pose, frames)

    def to_newton(self, q: np.ndarray, qd: np.ndarray, frames: EngineFrames) -> None:
        if not self._count:
            return
        outer, inner, com = self._frame(frames, slice(None))
        pose, velocity = _read(q[:, self._q], frames), qd[:, self._qd]
        turn = pose[..., -4:]
        if self._is_free:
            parts = velocity[..., :3], velocity[..., 3:]
            linear, angular = parts if frames.linear == "first" else parts[::-1]
            linear = _out_of_axes(linear, turn, frames.linear_axes)
            angular = _out_of_axes(angular, turn, frames.angular_axes)
            if frames.point == "origin":
                linear = linear + np.cross(angular, rotated(turn, com))
            back = conjugate(outer[..., 3:])
            qd[:, self._qd] = np.concatenate([rotated(back, linear), rotated(back, angular)], axis=-1)
            pose = _joined(_inverse(outer), _joined(pose, inner))
        else:
            qd[:, self._qd] = _out_of_axes(velocity, turn, frames.angular_axes)
        q[:, self._q] = pose

    def forces_to_engine(self, values: np.ndarray, q: np.ndarray, frames: EngineFrames) -> None:
        if not self._count:
            return
        _, _, com = self._frame(frames, slice(None))
        turn = _read(q[:, self._q], frames)[..., -4:]
        found = values[:, self._qd]
        if not self._is_free:
            values[:, self._qd] = _in_axes(found, turn, frames.angular_axes)
            return
        force, torque = found[..., :3], found[..., 3:]  # of the world's axes, also where the parent's are turned
        if frames.pose == "joint":
            back = conjugate(self._outer[..., 3:])
            force, torque = rotated(back, force), rotated(back, torque)
        if frames.point == "origin":
            torque = torque + np.cross(rotated(turn, com), force)
        parts = _in_axes(force, turn, frames.linear_axes), _in_axes(torque, turn, frames.angular_axes)
        values[:, self._qd] = np.concatenate(parts if frames.linear == "first" else parts[::-1], axis=-1)


def _in_axes(vectors: np.ndarray, turn: np.ndarray, axes: str) -> np.ndarray:
    return vectors if axes == "outer" else rotated(conjugate(turn), vectors)


def _out_of_axes(vectors: np.ndarray, turn: np.ndarray, axes: str) -> np.ndarray:
    return vectors if axes == "outer" else rotated(turn, vectors)


def _written(pose: np.ndarray, frames: EngineFrames) -> np.ndarray:
    place, turn = pose[..., :-4], pose[..., -4:]
    turn = np.roll(turn, 1, axis=-1) if frames.quaternion == "wxyz" else turn
    return np.concatenate([place, turn] if frames.place == "first" else [turn, place], axis=-1)


def _read(written: np.ndarray, frames: EngineFrames) -> np.ndarray:
    place, turn = written[..., :-4], written[..., -4:]
    if frames.place == "last":
        turn, place = written[..., :4], written[..., 4:]
    turn = np.roll(turn, -1, axis=-1) if frames.quaternion == "wxyz" else turn
    return np.concatenate([place, turn / np.linalg.norm(turn, axis=-1, keepdims=True)], axis=-1)


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    place = first[..., :3] + rotated(first[..., 3:], second[..., :3])
    return np.concatenate([place, product(first[..., 3:], second[..., 3:])], axis=-1)


def _inverse(pose: np.ndarray) -> np.ndarray:
    turn = conjugate(pose[..., 3:])
    return np.concatenate([-rotated(turn, pose[..., :3]), turn], axis=-1)
