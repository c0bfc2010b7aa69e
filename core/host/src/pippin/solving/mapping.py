"""Joints of Newton in the columns of an engine: coordinates, velocities and efforts of all worlds, in doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal

import attrs
import newton
import numpy as np
import warp as wp
from attrs.validators import in_
from pippin.arrays import on_host

from .kernels.joints import PlainJoints, TurningJoints, read_joints, turn_efforts, write_joints

_FREE, _BALL = int(newton.JointType.FREE), int(newton.JointType.BALL)

_KEPT = 16
"""Size of caches; a simulation has two states and one control."""


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

    ball: Literal["joint", "body"] = _choice("joint", "body")
    """Ball joints: `"joint"`: the coordinates turn the child's joint frame in the parent's. `"body"`: they turn the
    body out of the pose in which both frames coincide, in axes of the body in that pose."""

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
        model: Newton's model of equal worlds, on the CPU.
        frames: How the engine writes free and ball joints.
        joints: Newton's joints in the order of the engine, counted within a world; by default all of them.
        reference: The engine's coordinates where Newton's are zero [m or rad], of joints that are neither free nor
            ball joints, by Newton's DOFs, shape [W, DOFs of a world]; by default zero.

    Raises:
        ValueError: A joint has coordinates of another kind.
    """

    def __init__(
        self,
        model: newton.Model,
        frames: EngineFrames | None = None,
        joints: Sequence[int] | None = None,
        reference: np.ndarray | None = None,
    ) -> None:
        worlds = model.world_count
        count = model.joint_count // worlds
        kinds = on_host(model.joint_type)[:count].tolist()
        starts = [on_host(getattr(model, f"joint_{name}_start"))[: count + 1].tolist() for name in ("q", "qd")]
        #: First column of each joint, and their number at the end: of coordinates, and of velocities and efforts.
        self.q_start: list[int] = [0]
        self.qd_start: list[int] = [0]
        turning, own = [], {"q": [], "qd": [], "column_q": [], "column_qd": []}
        for joint in range(count) if joints is None else joints:
            q, qd = (range(start[joint], start[joint + 1]) for start in starts)
            if kinds[joint] in (_FREE, _BALL):
                turning.append((joint, q.start, qd.start, self.q_start[-1], self.qd_start[-1]))
            elif len(q) != len(qd):
                raise ValueError(f"joint {model.joint_label[joint]!r} is {newton.JointType(kinds[joint]).name}")
            else:
                for name, first, each in (("q", self.q_start[-1], q), ("qd", self.qd_start[-1], qd)):
                    own[name] += each
                    own[f"column_{name}"] += range(first, first + len(each))
            self.q_start.append(self.q_start[-1] + len(q))
            self.qd_start.append(self.qd_start[-1] + len(qd))
        #: Number of free and ball joints.
        self.turning_count: int = len(turning)
        #: Columns of the other joints in the engine's numbers, and in a row of Newton's, of a world: of coordinates.
        self.plain_q: tuple[Any, Any] = (_as_index(own["column_q"]), _as_index(own["q"]))
        #: Likewise of velocities and efforts.
        self.plain_qd: tuple[Any, Any] = (_as_index(own["column_qd"]), _as_index(own["qd"]))
        known = np.zeros((worlds, len(own["qd"]))) if reference is None else reference[:, own["qd"]]
        self._shift = -known if known.any() else None
        self._worlds, self._rows, self._doubles = worlds, _rows(worlds), _memory(wp.float64)
        self._flags, self._efforts = _memory(wp.bool), np.zeros((worlds, self.qd_start[-1]))
        rows, com = np.array(turning, dtype=int).reshape(-1, 5), model.body_com
        own_turning = _turning(model, frames or EngineFrames(), rows)
        self._read = _launcher(read_joints, worlds, own_turning, _plain(own, known), com)
        self._write, self._turn = (_launcher(each, worlds, own_turning, com) for each in (write_joints, turn_efforts))

    def read(self, state: newton.State | newton.Model, worlds: np.ndarray, q: np.ndarray, qd: np.ndarray) -> None:
        """Write the joints of a state into the engine's numbers.

        Args:
            state: Newton's state, or its model for the start pose, on the CPU.
            worlds: True for each world to read, shape [W] or [W + 1].
            q: The engine's coordinates, of 64-bit floats, shape [W, q_start[-1]].
            qd: Its velocities, likewise, shape [W, qd_start[-1]].

        Raises:
            ValueError: The engine's numbers have another type.
        """
        if worlds[: self._worlds].any():
            self._read(self._flags(worlds), state.joint_q, state.joint_qd, self._doubles(q), self._doubles(qd))

    def write(self, q: np.ndarray, qd: np.ndarray, state: newton.State) -> None:
        """Write the engine's numbers into the joints of a state.

        Args:
            q: The engine's coordinates, of 64-bit floats, shape [W, q_start[-1]]; quaternions need not have the length
                1.
            qd: Its velocities, likewise, shape [W, qd_start[-1]].
            state: Newton's state, on the CPU.

        Raises:
            ValueError: The engine's numbers have another type.
        """
        if self.turning_count:
            self._write(state.joint_q, state.joint_qd, self._doubles(q), self._doubles(qd))
        self.write_plain(q, qd, self._rows(state.joint_q), self._rows(state.joint_qd))

    def write_plain(self, q: np.ndarray, qd: np.ndarray, joint_q: np.ndarray, joint_qd: np.ndarray) -> None:
        """Write the engine's numbers of joints that are neither free nor ball joints into rows of Newton's, one of each
        world: NumPy copies whole columns faster than a kernel.

        Args:
            q: The engine's coordinates, shape [W, q_start[-1]].
            qd: Its velocities, shape [W, qd_start[-1]].
            joint_q: Newton's coordinates, shape [W, coordinates of a world].
            joint_qd: Its velocities, shape [W, DOFs of a world].
        """
        (column, own), (column_qd, own_qd) = self.plain_q, self.plain_qd
        joint_q[:, own] = q[:, column] if self._shift is None else q[:, column] + self._shift
        joint_qd[:, own_qd] = qd[:, column_qd]

    def efforts(self, control: newton.Control, q: np.ndarray) -> np.ndarray:
        """Return the efforts of the control as the engine's generalized forces, shape [W, qd_start[-1]].

        Args:
            control: Newton's control, on the CPU.
            q: The engine's coordinates, of 64-bit floats, shape [W, q_start[-1]]: forces turn with bodies.

        Raises:
            ValueError: The engine's coordinates have another type.
        """
        column, own = self.plain_qd
        self._efforts[:, column] = self._rows(control.joint_f)[:, own]
        if self.turning_count:
            self._turn(control.joint_f, self._doubles(q), self._doubles(self._efforts))
        return self._efforts.copy()


def _turning(model: newton.Model, frames: EngineFrames, rows: np.ndarray) -> Any:
    """Return the free and ball joints; the columns of the rows are joint, coordinate, DOF, and the engine's columns."""
    worlds, found = model.world_count, TurningJoints()
    made: Any = found
    joints = rows[:, 0]
    of_worlds = joints + np.arange(worlds)[:, None] * (model.joint_count // worlds)
    is_free = on_host(model.joint_type)[joints] == _FREE
    made.q_count, made.qd_count = model.joint_coord_count // worlds, model.joint_dof_count // worlds
    made.body_count = model.body_count // worlds
    made.is_free = wp.array(is_free, dtype=wp.bool, device="cpu")
    made.body = _integers(on_host(model.joint_child)[joints])
    made.q, made.qd, made.column_q, made.column_qd = (_integers(column) for column in rows[:, 1:].T)
    outer, inner = (on_host(getattr(model, f"joint_X_{end}")).astype(float)[of_worlds] for end in ("p", "c"))
    none = np.zeros_like(outer)
    none[..., 6] = 1.0
    is_body = np.where(is_free, frames.pose == "body", frames.ball == "body")[:, None]
    rest = np.where(is_free[:, None], outer, inner)  # both frames of a ball joint coincide there
    chosen = {"outer": (rest, none), "inner": (inner, none), "place": (none, inner)}
    for name, pair in chosen.items():
        setattr(made, name, wp.array(np.where(is_body, *pair), dtype=wp.transformd, device="cpu"))
    back = np.where(is_body, none, outer)[..., 3:] * [-1.0, -1.0, -1.0, 1.0]
    made.world = wp.array(back, dtype=wp.quatd, device="cpu")
    made.is_scalar_first, made.is_place_last = frames.quaternion == "wxyz", frames.place == "last"
    made.is_linear_last, made.is_of_origin = frames.linear == "last", frames.point == "origin"
    made.is_linear_inner, made.is_angular_inner = frames.linear_axes == "inner", frames.angular_axes == "inner"
    return found


def _plain(own: dict[str, list[int]], reference: np.ndarray) -> Any:
    found: Any = PlainJoints()
    for name, values in own.items():
        setattr(found, name, _integers(values))
    found.reference = wp.array(reference.astype(float), dtype=wp.float64, device="cpu")
    return found


def _integers(values: Any) -> wp.array:
    return wp.array(np.asarray(values, dtype=np.int32), dtype=int, device="cpu")


def _as_index(indices: list[int]) -> Any:
    """Return indices as a slice if they are consecutive: NumPy copies a slice several times as fast."""
    if indices and indices == [*range(indices[0], indices[-1] + 1)]:
        return slice(indices[0], indices[-1] + 1)
    return np.array(indices, dtype=int)


def _launcher(kernel: Any, count: int, *fixed: Any) -> Callable[..., None]:
    """Return a function that launches a kernel on the CPU; a recorded launch costs a seventh of a new one.

    The closure holds what is recorded, so that a checkpoint does not find it: it is valid in this process only.

    Args:
        kernel: The kernel. Its last arguments, arrays that differ between calls, are the arguments of the function.
        count: The number of threads.
        fixed: The first arguments of the kernel.
    """

    @lru_cache(maxsize=_KEPT)
    def recorded(*arrays: wp.array) -> Any:
        launch = wp.launch(kernel, count, [*fixed, *arrays], device="cpu", record_cmd=True)
        if launch is None:  # an error is not cached
            raise RuntimeError(f"kernel {kernel.key} is not compiled")
        return launch

    return lambda *arrays: recorded(*arrays).launch()


def _rows(count: int) -> Callable[[Any], np.ndarray]:
    """Return a function from an array on the CPU to a cached view, one row per world: making a view is slow."""

    @lru_cache(maxsize=_KEPT)
    def rows(array: Any) -> np.ndarray:
        return np.asarray(array).reshape(count, -1)

    return rows


def _memory(dtype: Any) -> Callable[[np.ndarray], wp.array]:
    """Return a function from an array of NumPy to one of Warp in its memory, which is made once for each array."""
    expected, kept = np.dtype(wp.dtype_to_numpy(dtype)), dict[int, tuple[np.ndarray, wp.array]]()

    def view(array: np.ndarray) -> wp.array:
        found = kept.get(id(array))
        if found is None:
            if array.dtype != expected:
                raise ValueError(f"the engine's numbers are {array.dtype}, and must be {expected}")
            if len(kept) == _KEPT:
                del kept[next(iter(kept))]
            found = kept[id(array)] = array, wp.array(array, dtype=dtype, device="cpu", copy=False)
        return found[1]  # the array is kept, so that no other one has its number

    return view
