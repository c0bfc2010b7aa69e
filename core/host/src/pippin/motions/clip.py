"""Clips: recorded motions of a robot, frame by frame, in npz files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import quaternions
from pippin.array_files import read_arrays
from pippin.config.files import find_file
from pippin.errors import ConfigError


@attrs.frozen(kw_only=True, eq=False)
class Clip:
    """A motion of a robot in equal steps of time: its joints, and the poses and velocities of its bodies in the world.

    `pippin motion convert` writes one. Names are those of `pippin inspect`, without paths.
    """

    rate: float
    """Frames per second [Hz]."""

    is_loop: bool
    """Whether the motion continues from its last frame as from its first one, which is then the same but for its
    place: x, y and the heading of the root."""

    root: str
    """Name of the body that is free; empty if the base of the robot is fixed."""

    joint_names: tuple[str, ...]
    """Names of the axes of joints."""

    body_names: tuple[str, ...]
    """Names of the bodies."""

    joint_positions: np.ndarray
    """Positions of the axes [rad, m], shape [frames, joints]."""

    joint_velocities: np.ndarray
    """Velocities of the axes [rad/s, m/s], shape [frames, joints]."""

    body_poses: np.ndarray
    """Positions of origins [m] and quaternions x, y, z, w, shape [frames, bodies, 7]."""

    body_velocities: np.ndarray
    """Velocities of centres of mass [m/s] and angular velocities [rad/s], shape [frames, bodies, 6]."""

    @property
    def frame_count(self) -> int:
        """The number of frames, the last one of a loop included."""
        return len(self.joint_positions)

    @property
    def stride(self) -> np.ndarray:
        """What takes the first frame of a loop to the last one: x, y, 0 [m] and a turn about z, shape [7]."""
        poses = self.body_poses[:, self.body_names.index(self.root)] if self.root and self.is_loop else np.zeros((0, 7))
        return self.stride_between(poses[0], poses[-1]) if len(poses) else np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    @staticmethod
    def stride_between(first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the way on the ground from one pose of a root to another: x, y, 0 [m] and a turn about z, shape [7].

        Args:
            first: Position [m] and quaternion x, y, z, w, shape [7].
            last: The same of the other pose.
        """
        turn = quaternions.product(last[None, 3:], quaternions.conjugate(first[None, 3:]))[0] * (0.0, 0.0, 1.0, 1.0)
        turn /= np.linalg.norm(turn)
        shift = last[:3] - quaternions.rotated(turn, first[:3])
        return np.concatenate([shift * (1.0, 1.0, 0.0), turn])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the npz file: the arrays by name, in single precision, and `fps`, `loop`, `root` and the names.

        Args:
            path: The file, in a folder that exists.
        """
        single: dict[str, Any] = {
            "joint_positions": self.joint_positions,
            "joint_velocities": self.joint_velocities,
            "body_positions": self.body_poses[..., :3],
            "body_rotations": self.body_poses[..., 3:],
            "body_linear_velocities": self.body_velocities[..., :3],
            "body_angular_velocities": self.body_velocities[..., 3:],
        }
        arrays: dict[str, Any] = {"fps": self.rate, "loop": self.is_loop, "root": self.root}
        arrays |= {"joint_names": self.joint_names, "body_names": self.body_names}
        arrays |= {name: np.asarray(values, dtype=np.float32) for name, values in single.items()}
        with Path(path).open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def read(cls, path: str, where: str) -> Clip:
        """Return the clip of a file.

        Args:
            path: The file, as a configuration names it.
            where: Key path of the file, for errors.

        Raises:
            ConfigError: The file is missing, or holds no clip.
        """
        file = find_file(path, where)
        try:
            arrays = read_arrays(file)
            velocities = [arrays[f"body_{kind}_velocities"] for kind in ("linear", "angular")]
            clip = cls(
                rate=float(arrays["fps"]),
                is_loop=bool(arrays["loop"]),
                root=str(arrays["root"]),
                joint_names=tuple(arrays["joint_names"].tolist()),
                body_names=tuple(arrays["body_names"].tolist()),
                joint_positions=arrays["joint_positions"],
                joint_velocities=arrays["joint_velocities"],
                body_poses=np.concatenate([arrays["body_positions"], arrays["body_rotations"]], axis=-1),
                body_velocities=np.concatenate(velocities, axis=-1),
            )
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigError(
                f"{where}: {str(file)!r} holds no clip ({error}); write one by `pippin motion convert`"
            ) from error
        if fault := clip.fault():
            raise ConfigError(f"{where}: {str(file)!r}: {fault}; write it anew by `pippin motion convert`")
        return clip

    def fault(self) -> str | None:
        """Return what is wrong with the numbers; None if nothing is."""
        frames, joints, bodies = self.frame_count, len(self.joint_names), len(self.body_names)
        shapes = {
            "joint_positions": (frames, joints),
            "joint_velocities": (frames, joints),
            "body_poses": (frames, bodies, 7),
            "body_velocities": (frames, bodies, 6),
        }
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values.shape != shape:
                return f"{name} should have the shape {list(shape)}, got {list(values.shape)}"
            if not np.isfinite(values).all():
                return f"{name} has numbers that are not finite"
        if frames < 2:
            return f"it has {frames} frames, and a motion needs two"
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            return f"fps must be above 0, got {self.rate:g}"
        if self.root and self.root not in self.body_names:
            return f"no body is called {self.root!r}, as the root is"
        return None
