"""Recorded motions of robots in the files of others, csv and npz, in the order that a caller declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
from pippin import ConfigError, did_you_mean
from pippin.array_files import read_arrays
from pippin.objects import read_table

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


def read_recorded(
    path: Path, names: Sequence[str], root: str, joints: Sequence[str], quaternion: str | None, rate: float | None
) -> RobotMotion:
    """Return the motion of a file, with its joints in the order of the robot.

    Args:
        path: A .csv without a header: position and quaternion of the root, if it is free, and the joints; or a .npz.
        names: Names of the robot's axes, in order.
        root: Name of its free body; empty if its base is fixed.
        joints: Names of the axes in the order of the file; by default those in it, or the order of the robot.
        quaternion: Order of the file's quaternions, `xyzw` or `wxyz`; None for `xyzw` of a csv and of Pippin's own npz,
            and `wxyz` of others.
        rate: Frames per second [Hz]; None if the file tells.

    Raises:
        ConfigError: The file is missing, or does not fit the robot.
    """
    if path.suffix not in (".csv", ".npz"):
        raise ConfigError(f"source: {str(path)!r} is neither .csv nor .npz; write one of them")
    if joints:
        _order(names, joints, "joints")
    read = _from_csv if path.suffix == ".csv" else _from_npz
    motion, declared, order = read(path, len(names), bool(root), tuple(joints), root)
    chosen = quaternion or order
    columns = _order(names, declared or tuple(names), "source")
    found = attrs.evolve(motion, rate=_rate(rate, motion.rate), joints=motion.joints[:, columns])
    return attrs.evolve(found, root=_unit(found.root, chosen, path)) if root else found


def _from_csv(
    path: Path, count: int, is_free: bool, joints: tuple[str, ...], root: str
) -> tuple[RobotMotion, tuple[str, ...], str]:
    rows, first = read_table(str(path), "source"), 7 if is_free else 0
    wanted = first + (len(joints) or count)
    if rows.shape[1] != wanted:
        of_root = f"7 of the root {root!r} and " if is_free else ""
        raise ConfigError(
            f"source: {str(path)!r} has {rows.shape[1]} columns, and the robot needs {wanted}: {of_root}"
            f"{wanted - first} of joints; name those of the file by `joints`"
        )
    return RobotMotion(rate=0.0, root=rows[:, :first], joints=rows[:, first:]), joints, "xyzw"


def _from_npz(
    path: Path, count: int, is_free: bool, joints: tuple[str, ...], root: str
) -> tuple[RobotMotion, tuple[str, ...], str]:
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
    if is_free:
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


def _rate(given: float | None, found: float) -> float:
    rate = found if given is None else given
    if not (np.isfinite(rate) and rate > 0.0):
        raise ConfigError(f"fps: the file tells none; give the frames per second, above 0, got {rate:g}")
    return rate


def _unit(root: np.ndarray, order: str, path: Path) -> np.ndarray:
    """Return poses with quaternions x, y, z, w of length one."""
    turns = np.roll(root[:, 3:], -1, axis=1) if order == "wxyz" else root[:, 3:]
    lengths = np.linalg.norm(turns, axis=1, keepdims=True)
    wrong = np.flatnonzero(np.abs(lengths[:, 0] - 1.0) > 1e-2)
    if len(wrong):
        raise ConfigError(
            f"source: {str(path)!r}: the quaternion of frame {wrong[0]} has the length {lengths[wrong[0], 0]:.3g}, not"
            " 1; give its columns in order"
        )
    return np.concatenate([root[:, :3], turns / lengths], axis=1)
