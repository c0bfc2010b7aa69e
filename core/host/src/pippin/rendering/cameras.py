"""Poses of the cameras of a video, one for each world, which may move along with bodies."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, Protocol

import newton
import numpy as np
import warp as wp
from pippin import labels
from pippin.arrays import on_host
from pippin.binding import Host
from pippin.errors import ConfigError
from pippin.quaternions import product, rotated
from pippin.viewing.bounding_box import bounding_box

Vector3 = tuple[float, float, float]


class CameraSettings(Protocol):
    """Settings of a camera: its position, and the middle of its image."""

    @property
    def camera(self) -> str | None:
        """Name of a camera of the asset, as a pattern, in place of the others."""

    @property
    def target(self) -> Vector3 | None:
        """Point in the middle of the image [m]; None means the middle of the robots."""

    @property
    def eye(self) -> Vector3 | None:
        """Position of the camera [m]; None means so far away that the robots fill the image."""

    @property
    def follow(self) -> str | None:
        """Pattern of the bodies that the camera moves along with; None means robots that can go away."""

    @property
    def fov(self) -> float | None:
        """Angle between the upper and the lower edge of the image [rad]; None means a usual one."""


_ROBOTS: Any = SimpleNamespace(camera=None, target=None, eye=None, follow=None, fov=None)
"""Settings of a camera that shows the robots."""

_FOV = 0.7
"""Angle between the upper and the lower edge of the image [rad]."""

_FROM = np.array((1.0, -1.7, 0.62))
"""Direction from the robots to the camera."""

_MARGIN = 0.95
"""Distance of the camera, as a factor of that at which a sphere around the robots fills the image."""

_DELAY = np.array((0.25, 0.25, 0.6))
"""Time by which the camera is behind the bodies that it follows [s]: steps and jumps do not shake it."""

_CUT = 2.0
"""Jump of the bodies between two frames, in sizes of the image, that the camera takes at once: a reset."""


class Cameras:
    """The cameras of some worlds of a simulation in its start pose.

    Args:
        config: What each camera shows; None for the robots.
        simulation: The simulation.
        worlds: Indices of the worlds, shape [worlds].
        aspect: Width of an image by its height.

    Raises:
        ConfigError: A body or a camera does not exist, or the camera cannot look along the vertical.
    """

    def __init__(self, config: CameraSettings | None, simulation: Host, worlds: np.ndarray, aspect: float) -> None:
        config = _ROBOTS if config is None else config
        self._model, state = simulation.model, simulation.state
        #: Angle between the upper and the lower edge of the images [rad].
        self.fov: float = _FOV if config.fov is None else config.fov
        self._sites: np.ndarray | None = None
        middle, radius = _framed(self._model, state, worlds)
        #: Size of what is in the middle of the images [m].
        self.scale: float = radius
        if config.camera is not None:
            self._sites, fov = _cameras(self._model, worlds, config.camera)
            self.fov = fov if config.fov is None else config.fov
            return
        narrow = min(self.fov, 2.0 * math.atan(math.tan(self.fov / 2.0) * aspect))
        distance = _MARGIN * radius / math.sin(narrow / 2.0)
        target = middle if config.target is None else np.tile(np.array(config.target), (len(worlds), 1))
        away = _FROM / np.linalg.norm(_FROM) * distance
        eye = target + away if config.eye is None else np.tile(np.array(config.eye), (len(worlds), 1))
        if config.eye is not None:
            self.scale = float(np.linalg.norm(eye - target, axis=1).mean()) * math.sin(narrow / 2.0) / _MARGIN
        self._turns = np.array([look_at(*pair)[3:] for pair in zip(eye, target, strict=True)])
        self._eyes = eye
        self._groups = self._followed(config, worlds)
        self._start = self._last = self._smooth = self._anchors(state)
        self._time = simulation.time

    def poses(self, state: newton.State, time: float) -> np.ndarray:
        """Return the pose of each camera, shape [worlds, 7]; it looks along its own −z, with +y up.

        Args:
            state: The state that is shown.
            time: Its time [s], after those of earlier calls.
        """
        if self._sites is not None:
            return _poses_of(self._model, state, self._sites)
        anchors = self._anchors(state)
        anchors = np.where(np.isfinite(anchors), anchors, self._last)
        gain = 1.0 - np.exp(-(time - self._time) / _DELAY)
        jump = np.linalg.norm(anchors - self._last, axis=1, keepdims=True) > _CUT * self.scale
        moved = self._smooth + gain * (anchors - self._smooth)
        self._smooth = np.where(jump, anchors + self._smooth - self._last, moved)
        self._last, self._time = anchors, time
        return np.concatenate([self._eyes + self._smooth - self._start, self._turns], axis=1)

    def _followed(self, config: CameraSettings, worlds: np.ndarray) -> list[np.ndarray]:
        model = self._model
        if config.follow is None:
            is_free = config.eye is None and config.target is None
            return [_roots(model, world) if is_free else np.zeros(0, dtype=int) for world in worlds]
        bodies = [np.flatnonzero(on_host(model.body_world) == world) for world in worlds]
        names = [[model.body_label[body] for body in own] for own in bodies]
        return [
            own[labels.match(config.follow, each, "body", "follow")] for own, each in zip(bodies, names, strict=True)
        ]

    def _anchors(self, state: newton.State) -> np.ndarray:
        """Return the mean position of the followed bodies of each world [m], shape [worlds, 3]."""
        anchors = np.zeros((len(self._groups), 3))
        if any(group.size for group in self._groups):
            positions = on_host(state.body_q)[:, :3]
            for row, group in enumerate(self._groups):
                anchors[row] = positions[group].mean(axis=0) if group.size else 0.0
        return anchors


def look_at(eye: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the pose of a camera that looks along its own −z, with +y up: position and quaternion, shape [7]."""
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0.0, 1.0, 0.0) if abs(back[2]) > 1.0 - 1e-6 else (0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(back, right), back], axis=1)
    turn = wp.quat_from_matrix(wp.mat33(*axes.ravel()))  # pyrefly: ignore[no-matching-overload]
    return np.array([*eye, *turn])


def _framed(model: newton.Model, state: newton.State, worlds: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the middle of what can be seen of each world [m], shape [worlds, 3], and the largest radius [m]."""
    middles, radius = np.zeros((len(worlds), 3)), 0.0
    for row, world in enumerate(worlds):
        found = bounding_box(model, state, int(world))
        if found is not None:
            middles[row] = (found[0] + found[1]) / 2.0
            radius = max(radius, float(np.linalg.norm(found[1] - found[0])) / 2.0)
    return middles, radius or 1.0


def _cameras(model: newton.Model, worlds: np.ndarray, pattern: str) -> tuple[np.ndarray, float]:
    """Return the site of the asset's camera in each world, and its angle of view [rad]."""
    attributes = getattr(model, "pippin", None)
    angles = np.zeros(model.shape_count) if attributes is None else on_host(attributes.vertical_fov)
    owners, sites = on_host(model.shape_world), []
    for world in worlds:
        own = np.flatnonzero((angles > 0.0) & (owners == world))
        names = [model.shape_label[site] for site in own]
        found = labels.match(pattern, names, "camera", "camera")
        if len(found) > 1:
            raise ConfigError(f"camera: {pattern!r} matches {', '.join(names[i] for i in found)}; name one of them")
        sites.append(own[found[0]])
    return np.array(sites), float(angles[sites[0]])


def _poses_of(model: newton.Model, state: newton.State, sites: np.ndarray) -> np.ndarray:
    local, bodies = on_host(model.shape_transform)[sites], on_host(model.shape_body)[sites]
    if not model.body_count:
        return local
    parents = np.where(bodies[:, None] >= 0, on_host(state.body_q)[bodies], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    turns = product(parents[:, 3:], local[:, 3:])
    return np.concatenate([rotated(parents[:, 3:], local[:, :3]) + parents[:, :3], turns], axis=1)


def _roots(model: newton.Model, world: int) -> np.ndarray:
    """Return the root bodies of a world's robots if all of them can move in two directions or more; else none.

    Robots are the articulations of several bodies, or all articulations if each has one body.
    """
    if not model.joint_count:
        return np.zeros(0, dtype=int)
    articulations = on_host(model.joint_articulation)
    sizes = np.bincount(articulations[articulations >= 0], minlength=model.articulation_count)
    is_root = (on_host(model.joint_world) == world) & (on_host(model.joint_parent) < 0) & (articulations >= 0)
    joints = np.flatnonzero(is_root)
    if not joints.size:
        return joints
    several = joints[sizes[articulations[joints]] > 1]
    joints = several if several.size else joints
    goes_away = on_host(model.joint_dof_dim)[joints, 0] >= 2
    return on_host(model.joint_child)[joints] if goes_away.all() else np.zeros(0, dtype=int)
