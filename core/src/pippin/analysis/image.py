"""Images of a scene in its start pose, and PNG files."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.assembly.scene import finalize, new_builder
from pippin.assets.asset import find_assets
from pippin.assets.importing import import_asset
from pippin.axes import axis_labels
from pippin.config import SceneConfig
from pippin.errors import ConfigError
from pippin.labels import name_of
from pippin.quaternions import conjugate, rotated
from pippin.state.start_pose import limit_notes
from pippin.viewing.bounding_box import bounding_box
from pippin.viewing.video.cameras import look_at
from pippin.viewing.video.renderer import render_image

from .lettering import add_names

_SIZE = (720, 540)
"""Width and height of the image of a scene [pixels]."""

_FOV = 0.7
"""Angle of view from its upper to its lower edge [rad]."""

_FROM = np.array((1.0, -1.6, 0.8))
"""Direction from the robot to the camera."""


_STILL = (newton.JointType.FREE, newton.JointType.FIXED, newton.JointType.DISTANCE)
"""Types of joints without axes, whose names are left out."""


def draw_scene(scene: SceneConfig, file: Path) -> list[str]:
    """Write an image of the start pose of a scene's assets with the names of their joints, on a plane under their
    lowest point, and return notes on the pose. Planes of the assets are left out.
    """
    if file.suffix.lower() != ".png" or not file.parent.is_dir():
        raise ConfigError(f"draw: '{file}' cannot be written; name a .png file in a folder that exists")
    device = wp.get_device("cpu")
    with wp.ScopedDevice(device):
        builder = new_builder(scene)
        for asset in find_assets(scene.assets):
            part = new_builder(scene)
            import_asset(part, asset)
            builder.add_builder(part)
        for shape, kind in enumerate(builder.shape_type):
            if kind == newton.GeoType.PLANE and builder.shape_body[shape] < 0:  # it may hide the robot, or its light
                builder.shape_flags[shape] &= ~int(newton.ShapeFlags.VISIBLE)
        ground = builder.add_ground_plane()
        model = finalize(builder, device, has_valid_inertias=True)  # no step is taken
        state = model.state()
        newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state)
        ends = bounding_box(model, state, world=-1)
        if ends is None:
            raise ConfigError("draw: the asset has no shape that can be seen; leave the option out")
        low, high = ends
        present(model.shape_transform)[ground : ground + 1].fill_(
            wp.transform((0.0, 0.0, low[2] - 1e-3), wp.quat_identity())
        )
        middle, radius = (low + high) / 2.0, np.linalg.norm(high - low) / 2.0
        eye = middle + _FROM / np.linalg.norm(_FROM) * radius / np.sin(_FOV / 2.0)
        image = render_image(model, state, eye, middle, _SIZE, _FOV)
        add_names(image, *_joints(model, state, look_at(eye, middle)))
    file.write_bytes(png(image))
    return limit_notes(model)


def _joints(model: newton.Model, state: newton.State, camera: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the names of the joints that move something, and their columns and rows in the image."""
    if not model.joint_count:
        return [], np.zeros((0, 2))
    joints = np.flatnonzero(~np.isin(on_host(model.joint_type), _STILL))
    poses = on_host(state.body_q)[on_host(model.joint_child)[joints]]
    anchors = rotated(poses[:, 3:], on_host(model.joint_X_c)[joints, :3]) + poses[:, :3]
    seen = rotated(conjugate(camera[None, 3:]), anchors - camera[:3])
    scale = _SIZE[1] / 2.0 / np.tan(_FOV / 2.0) / -seen[:, 2:]
    points = np.array(_SIZE) / 2.0 + seen[:, :2] * scale * (1.0, -1.0)
    return [", ".join(map(name_of, axis_labels(model, [int(joint)]))) for joint in joints], points


def png(image: np.ndarray) -> bytes:
    """Return an image of shape [height, width, 3], from 0 to 255, as a PNG file."""
    height, width, _ = image.shape
    rows = np.insert(image.reshape(height, -1), 0, 0, axis=1)  # each row begins with its filter: none
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
