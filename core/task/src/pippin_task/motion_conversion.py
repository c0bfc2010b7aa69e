"""Clips made of recorded motions: resampled to the control step of a robot's file, with velocities and its bodies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
import newton
import numpy as np
from pippin import ConfigError, did_you_mean, load, quaternions
from pippin.array_files import read_arrays
from pippin.arrays import on_host, present
from pippin.assembly import ScenePoses, build_poses
from pippin.axes import axis_labels
from pippin.files import refuse_unwritable
from pippin.labels import name_of
from pippin.motions import Clip
from pippin.objects import read_table

_SAME = 1e-2
"""Largest difference of the last frame of a loop from the first one [m, rad]."""


def convert_motion(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str] | None,
    robot: str | os.PathLike[str],
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    joints: Sequence[str] = (),
    quaternion: Literal["xyzw", "wxyz"] | None = None,
    fps: float | None = None,
    loop: bool = False,
) -> Clip:
    """Return a recorded motion as a clip for the command `motion`, and write it.

    Positions are interpolated, quaternions on the shortest arc, at the control steps of the robot's file. Velocities
    are central differences over two control steps, over one at the ends, unless the motion is a loop. Newton computes
    the bodies from the joints.

    Args:
        source: A .csv without a header, a row for each frame: x, y, z [m] and quaternion of the root, if it is free,
            then the joints [rad, m]. Or a .npz of mjlab, of Isaac Lab or of Pippin.
        target: The .npz file to write; None to write nothing.
        robot: A configuration whose scene has one robot and nothing else.
        overrides: Values on top of it, as for `load`.
        joints: Names of the joints in the order of the file; by default those that it tells, or the robot's order.
        quaternion: Order of the file's quaternions; by default `xyzw` of a csv and of Pippin's own npz, else `wxyz`.
        fps: Frames per second of the file [Hz]; by default those that it tells.
        loop: Whether the motion begins again after its last frame, which must be the first one elsewhere.

    Raises:
        ConfigError: A file cannot be read or written, or the motion does not fit the robot or is no loop.
    """
    if target is not None:
        refuse_unwritable(Path(target), "target")
    config = load(robot, overrides)
    poses = build_poses(attrs.evolve(config, scene=attrs.evolve(config.scene, worlds=1)), 1)
    layout = _Layout(poses)
    motion = _recorded(Path(source), layout.joint_names, layout.root, joints, quaternion, fps)
    motion = _resampled(motion, poses.control_dt, loop=loop)
    clip = _with_bodies(motion, layout, loop=loop)
    if target is not None:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        clip.write(target)
    return clip


class _Layout:
    """The places of the coordinates of the only robot of a scene; refuse any other number, and joints without axes."""

    def __init__(self, poses: ScenePoses) -> None:
        self.poses, model = poses, poses.model
        if model.articulation_count != 1:
            raise ConfigError(
                f"robot: the scene has {model.articulation_count} robots and free objects; name a file with one"
            )
        kinds, starts = on_host(model.joint_type), (on_host(model.joint_q_start), on_host(model.joint_qd_start))
        free = [joint for joint in range(model.joint_count) if kinds[joint] == newton.JointType.FREE]
        held = [joint for joint in range(model.joint_count) if joint not in free]
        wrong = [joint for joint in held if len({int(start[joint + 1] - start[joint]) for start in starts}) > 1]
        if wrong:
            raise ConfigError(
                f"robot: {model.joint_label[wrong[0]]!r} is a ball, and a clip has a number for each axis; use hinges"
            )
        #: First coordinate and first degree of freedom of the root; empty if the base is fixed.
        self.free = [[int(start[joint]) for start in starts] for joint in free]
        self.root: str = name_of(model.body_label[int(on_host(model.joint_child)[free[0]])]) if free else ""
        self.root_body = int(on_host(model.joint_child)[free[0]]) if free else -1
        self.joint_names = [name_of(label) for label in axis_labels(model, held)]
        self.body_names = [name_of(label) for label in model.body_label]
        #: Coordinate and degree of freedom of each axis, shape [2, axes].
        self.columns = np.array(
            [[i for joint in held for i in range(int(start[joint]), int(start[joint + 1]))] for start in starts]
        ).reshape(2, -1)
        for names, what in ((self.joint_names, "joints"), (self.body_names, "bodies")):
            if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
                raise ConfigError(f"robot: two {what} are called {twice[0]!r}; rename one")


def _resampled(motion: RobotMotion, dt: float, *, loop: bool) -> RobotMotion:
    count = len(motion.joints)
    duration = (count - 1) / motion.rate
    steps = round(duration / dt)
    if loop and (steps < 1 or abs(steps * dt - duration) > 1e-6 * max(duration, dt)):
        raise ConfigError(
            f"loop: the motion lasts {duration:g} s, no whole number of control steps of {dt:g} s; stretch it by `fps`"
        )
    steps = steps if loop else int(duration / dt + 1e-6)
    if steps < 1:
        raise ConfigError(f"source: the motion lasts {duration:g} s, less than a control step of {dt:g} s; add frames")
    places = np.minimum(np.arange(steps + 1) * dt * motion.rate, count - 1)
    before = np.minimum(places.astype(int), max(count - 2, 0))
    share = (places - before)[:, None]
    joints, root = motion.joints, motion.root
    found = joints[before] + share * (joints[before + 1] - joints[before])
    if not root.shape[1]:
        return RobotMotion(rate=1.0 / dt, root=root[:1].repeat(steps + 1, axis=0), joints=found)
    where = root[before, :3] + share * (root[before + 1, :3] - root[before, :3])
    turns = _turned(root[before, 3:], share * _between(root[before, 3:], root[before + 1, 3:]))
    return RobotMotion(rate=1.0 / dt, root=np.concatenate([where, turns], axis=1), joints=found)


def _with_bodies(motion: RobotMotion, layout: _Layout, *, loop: bool) -> Clip:
    poses, rate = layout.poses, motion.rate
    model, state = poses.model, poses.state
    if loop:
        _refuse_open(motion, layout.joint_names)
    joints, root = _extended(motion, loop=loop)
    speeds = 0.5 * rate * (joints[2:] - joints[:-2])
    q = on_host(model.joint_q).astype(float)[None].repeat(len(speeds), axis=0)
    qd = np.zeros((len(speeds), model.joint_dof_count))
    q[:, layout.columns[0]], qd[:, layout.columns[1]] = motion.joints, speeds
    for first, dof in layout.free:
        spin = 0.5 * rate * _between(root[:-2, 3:], root[2:, 3:])
        arm = quaternions.rotated(motion.root[:, 3:], on_host(model.body_com)[layout.root_body].astype(float))
        q[:, first : first + 7] = motion.root
        qd[:, dof : dof + 3] = 0.5 * rate * (root[2:, :3] - root[:-2, :3]) + np.cross(spin, arm)
        qd[:, dof + 3 : dof + 6] = spin
    rows = []
    for coordinates, velocities in zip(q, qd, strict=True):
        present(state.joint_q).assign(coordinates.astype(np.float32))
        present(state.joint_qd).assign(velocities.astype(np.float32))
        newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state)
        rows.append((present(state.body_q).numpy().copy(), present(state.body_qd).numpy().copy()))
    body_poses, body_velocities = map(np.array, zip(*rows, strict=True))
    return Clip(
        rate=rate,
        is_loop=loop,
        root=layout.root,
        joint_names=tuple(layout.joint_names),
        body_names=tuple(layout.body_names),
        joint_positions=motion.joints.astype(np.float32),
        joint_velocities=speeds.astype(np.float32),
        body_poses=body_poses,
        body_velocities=body_velocities,
    )


def _extended(motion: RobotMotion, *, loop: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return joints and root with one frame more at each end: of the loop, or as fast as the first and last step."""
    joints, root = motion.joints, motion.root
    if not loop:
        ends = 2.0 * joints[:1] - joints[1:2], 2.0 * joints[-1:] - joints[-2:-1]
        joints = np.concatenate([ends[0], joints, ends[1]])
        if root.shape[1]:
            root = np.concatenate([_beyond(root[1:2], root[:1]), root, _beyond(root[-2:-1], root[-1:])])
        return joints, root
    joints = np.concatenate([joints[-2:-1], joints, joints[1:2]])
    if root.shape[1]:
        stride = Clip.stride_between(root[0], root[-1])
        back = quaternions.conjugate(stride[3:])
        inverse = np.concatenate([quaternions.rotated(back, -stride[:3]), back])
        before, after = _moved(inverse, root[-2:-1]), _moved(stride, root[1:2])
        root = np.concatenate([before, root, after])
    return joints, root


def _moved(pose: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """Return poses that are moved by a pose, shape [frames, 7]."""
    places = pose[:3] + quaternions.rotated(pose[3:], poses[:, :3])
    return np.concatenate([places, quaternions.product(pose[None, 3:], poses[:, 3:])], axis=1)


def _refuse_open(motion: RobotMotion, names: Sequence[str]) -> None:
    apart = dict(zip(names, np.abs(motion.joints[-1] - motion.joints[0]), strict=True))
    root = motion.root
    if root.shape[1]:
        begun = _moved(Clip.stride_between(root[0], root[-1]), root[:1])
        apart["the height of the root"] = abs(root[-1, 2] - root[0, 2])
        apart["the tilt of the root"] = float(np.linalg.norm(_between(begun[:, 3:], root[-1:, 3:])))
    worst = max(apart, key=lambda name: apart[name], default=None)
    if worst is not None and apart[worst] > _SAME:
        raise ConfigError(
            f"loop: the last frame is not the first one: {worst} is {apart[worst]:.2g} rad or m off, and {_SAME:g} is"
            " permitted; cut the motion where it repeats"
        )


def _between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the rotation vectors in the world from some quaternions to others [rad], shape [frames, 3]."""
    return quaternions.rotation_vectors(quaternions.product(second, quaternions.conjugate(first)))


def _turned(turns: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return quaternions.product(quaternions.from_rotation_vectors(vectors), turns)


def _beyond(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    turns = _turned(other[:, 3:], _between(one[:, 3:], other[:, 3:]))
    return np.concatenate([2.0 * other[:, :3] - one[:, :3], turns], axis=1)


_KEYS = {
    "rate": ("fps",),
    "names": ("joint_names", "dof_names"),
    "joints": ("joint_positions", "joint_pos", "dof_positions"),
    "places": ("body_positions", "body_pos_w"),
    "turns": ("body_rotations", "body_quat_w"),
}
"""Names of the arrays in npz files: of Pippin; of BeyondMimic and mjlab; of Isaac Lab's AMP."""


@attrs.frozen(kw_only=True, eq=False)
class RobotMotion:
    """The root and the joints of a robot in equal steps of time, in the order of its joints."""

    rate: float
    """Frames per second [Hz]."""

    root: np.ndarray
    """Position [m] and quaternion x, y, z, w of the root in the world, shape [frames, 7]; [frames, 0] without one."""

    joints: np.ndarray
    """Positions of the axes [rad, m], shape [frames, joints]."""


def _recorded(
    path: Path, names: Sequence[str], root: str, joints: Sequence[str], quaternion: str | None, rate: float | None
) -> RobotMotion:
    """Return the motion of a file for `convert_motion`, in the order of the robot's axes; `root` is its free body."""
    if path.suffix not in (".csv", ".npz"):
        raise ConfigError(f"source: {str(path)!r} is neither .csv nor .npz; write one of them")
    if joints:
        _order(names, joints, "joints")
    read = _from_csv if path.suffix == ".csv" else _from_npz
    motion, declared, order = read(path, len(names), tuple(joints), root)
    columns = _order(names, declared or tuple(names), "source")
    rate = motion.rate if rate is None else rate
    if not (np.isfinite(rate) and rate > 0.0):
        raise ConfigError(f"fps: the file tells none; give the frames per second, above 0, got {rate:g}")
    found = attrs.evolve(motion, rate=rate, joints=motion.joints[:, columns])
    return attrs.evolve(found, root=_unit(found.root, quaternion or order, path)) if root else found


def _from_csv(path: Path, count: int, joints: tuple[str, ...], root: str) -> tuple[RobotMotion, tuple[str, ...], str]:
    rows, first = read_table(str(path), "source"), 7 if root else 0
    wanted = first + (len(joints) or count)
    if rows.shape[1] != wanted:
        of_root = f"7 of the root {root!r} and " if root else ""
        raise ConfigError(
            f"source: {str(path)!r} has {rows.shape[1]} columns, and the robot needs {wanted}: {of_root}"
            f"{wanted - first} of joints; name those of the file by `joints`"
        )
    return RobotMotion(rate=0.0, root=rows[:, :first], joints=rows[:, first:]), joints, "xyzw"


def _from_npz(path: Path, count: int, joints: tuple[str, ...], root: str) -> tuple[RobotMotion, tuple[str, ...], str]:
    try:
        arrays = read_arrays(path)
    except (FileNotFoundError, ValueError) as error:
        raise ConfigError(f"source: {str(path)!r} cannot be read ({error}); write it anew") from error
    positions = np.asarray(_array(arrays, "joints", path), dtype=float)
    names = tuple(map(str, _array(arrays, "names", path, np.zeros(0)).tolist()))
    width = len(joints or names) or count
    if positions.ndim != 2 or positions.shape[1] != width:
        raise ConfigError(
            f"source: {str(path)!r} has joints of the shape {list(positions.shape)}, and {width} are named; name those"
            " of the file by `joints`"
        )
    rows = np.zeros((len(positions), 0))
    if root:
        bodies = [str(name) for name in arrays.get("body_names", np.zeros(0)).tolist()]
        if bodies and root not in bodies:
            raise ConfigError(
                f"source: {str(path)!r} has no body {root!r}{did_you_mean(root, bodies) or ';'} rename it"
            )
        row = bodies.index(root) if bodies else 0
        rows = np.concatenate([_array(arrays, part, path)[:, row] for part in ("places", "turns")], axis=1).astype(
            float
        )
    if not np.isfinite(rows).all() or not np.isfinite(positions).all() or len(rows) != len(positions):
        raise ConfigError(f"source: {str(path)!r} must hold finite numbers of equally many frames; write it anew")
    rate = float(np.ravel(_array(arrays, "rate", path, np.zeros(1)))[0])
    order = "xyzw" if "body_rotations" in arrays and "joint_positions" in arrays else "wxyz"
    return RobotMotion(rate=rate, root=rows, joints=positions), joints or names, order


def _array(arrays: Mapping[str, np.ndarray], what: str, path: Path, default: np.ndarray | None = None) -> np.ndarray:
    for key in _KEYS[what]:
        if key in arrays:
            return arrays[key]
    if default is None:
        raise ConfigError(f"source: {str(path)!r} has no array {' or '.join(map(repr, _KEYS[what]))}; add it")
    return default


def _order(names: Sequence[str], declared: Sequence[str], where: str) -> list[int]:
    faults = [
        f"{where}: the robot has no joint {name!r}{did_you_mean(name, names) or ';'} joints: {', '.join(names)}"
        for name in declared
        if name not in names
    ]
    faults += [f"{where}: joint {name!r} stands twice; name each once" for name in names if declared.count(name) > 1]
    faults += [
        f"{where}: joint {name!r} of the robot is missing; add its column" for name in names if name not in declared
    ]
    if faults:
        raise ConfigError(*faults)
    return [declared.index(name) for name in names]


def _unit(root: np.ndarray, order: str, path: Path) -> np.ndarray:
    turns = np.roll(root[:, 3:], -1, axis=1) if order == "wxyz" else root[:, 3:]
    lengths = np.linalg.norm(turns, axis=1, keepdims=True)
    wrong = np.flatnonzero(np.abs(lengths[:, 0] - 1.0) > 1e-2)
    if len(wrong):
        raise ConfigError(
            f"source: {str(path)!r}: the quaternion of frame {wrong[0]} has the length {lengths[wrong[0], 0]:.3g}, not"
            " 1; give its columns in order"
        )
    return np.concatenate([root[:, :3], turns / lengths], axis=1)
