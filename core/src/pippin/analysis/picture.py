"""Pictures of a scene, ray-traced by Newton without a display: shaded images of the first world, and PNG files."""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import newton
import numpy as np
import warp as wp
from newton.sensors import SensorCamera
from pippin.arrays import on_host, present
from pippin.assembly.assets.importing import find_assets, import_asset
from pippin.assembly.scene import finalize, new_builder
from pippin.config import SceneConfig
from pippin.errors import ConfigError

__all__ = ["CAMERA_DIRECTION", "corners", "draw_scene", "look", "paint_ground", "png", "render"]

_SIZE = (720, 540)
"""Width and height of the picture of a scene [pixels]."""

_FOV = 0.7
"""Angle of view from its upper to its lower edge [rad]."""

CAMERA_DIRECTION = np.array((1.0, -1.6, 0.8))
"""Direction from the robot to the camera."""

_GROUND = (0.75, 0.78, 0.8)
"""Color of the ground."""


def draw_scene(scene: SceneConfig, file: Path) -> None:
    """Write a picture of the start pose of a scene's assets, on a plane under their lowest point.

    Raises:
        ConfigError: An asset cannot be read, nothing can be seen, or the file cannot be written.
    """
    if file.suffix.lower() != ".png" or not file.parent.is_dir():
        raise ConfigError(f"--draw: '{file}' cannot be written; name a .png file in a folder that exists")
    device = wp.get_device("cpu")
    with wp.ScopedDevice(device):
        builder = new_builder(scene)
        for asset in find_assets(scene.assets):
            part = new_builder(scene)
            import_asset(part, asset)
            builder.add_builder(part)
        ground = builder.add_ground_plane()
        model = finalize(builder, device, has_valid_inertias=True)  # no step is taken
        state = model.state()
        newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state)
        low, high = corners(model, state)
        present(model.shape_transform)[ground : ground + 1].fill_(
            wp.transform((0.0, 0.0, low[2] - 1e-3), wp.quat_identity())
        )
        paint_ground(model, ground)
        middle, radius = (low + high) / 2.0, np.linalg.norm(high - low) / 2.0
        eye = middle + CAMERA_DIRECTION / np.linalg.norm(CAMERA_DIRECTION) * radius / np.sin(_FOV / 2.0)
        image = render(model, state, eye, middle, _SIZE, _FOV)
    file.write_bytes(png(image))


def paint_ground(model: newton.Model, shape: int) -> None:
    """Give a shape the color of the ground in pictures."""
    present(model.shape_color)[shape : shape + 1].fill_(wp.vec3(*_GROUND))


def render(
    model: newton.Model,
    state: newton.State,
    eye: Sequence[float] | np.ndarray,
    target: Sequence[float] | np.ndarray,
    size: tuple[int, int],
    fov: float,
) -> np.ndarray:
    """Return the image of a camera in the first world, shape [height, width, 3], from 0 to 255.

    Args:
        model: The model.
        state: The state.
        eye: Position of the camera [m].
        target: Point in the middle of the image [m].
        size: Width and height [pixels].
        fov: Angle from the upper to the lower edge of the image [rad].
    """
    width, height = size
    camera = SensorCamera(
        model,
        default_clear_data=SensorCamera.ClearData(clear_color=0xFFB6B0AA),
        default_render_config=SensorCamera.RenderConfig(
            enable_shadows=True, anti_aliasing=SensorCamera.AntiAliasing.SSAA
        ),
    )
    camera.create_default_light(enable_shadows=True)
    rays = SensorCamera.compute_camera_rays_pinhole(width, height, camera_fov=fov, device=model.device, sample_count=4)
    place = wp.array([look(np.array(eye), np.array(target))], dtype=wp.transformf, device=model.device)
    image: Any = camera.allocate_image_color(1, width, height)
    model.bvh_refit_shapes(state)
    camera.update(state, place, rays, color_image=image)
    return image.numpy()[0].view(np.uint8).reshape(height, width, 4)[..., :3]


def look(eye: np.ndarray, target: np.ndarray) -> Any:
    """Return the frame of a camera: it looks along its own −z, with +y up."""
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    axes: Any = np.stack([right, np.cross(back, right), back], axis=1)
    turn: Any = wp.mat33(*axes.ravel())
    return wp.transform(eye, wp.quat_from_matrix(turn))


def png(image: np.ndarray) -> bytes:
    """Return an image of shape [height, width, 3], from 0 to 255, as a PNG file."""
    height, width, _ = image.shape
    rows = np.insert(image.reshape(height, -1), 0, 0, axis=1)  # each row begins with its filter: none
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def corners(model: newton.Model, state: newton.State) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest corner [m] of what can be seen in the first world, without planes.

    Raises:
        ConfigError: Nothing can be seen.
    """
    is_seen = (on_host(model.shape_flags) & int(newton.ShapeFlags.VISIBLE)) > 0
    is_seen &= on_host(model.shape_world) <= 0  # of all worlds, or of the first
    shapes = np.flatnonzero(is_seen & (on_host(model.shape_type) != int(newton.GeoType.PLANE)))
    if not shapes.size:
        raise ConfigError("a picture: there is no shape that can be seen; draw none")
    ends = np.stack([on_host(each) for each in (model.shape_collision_aabb_lower, model.shape_collision_aabb_upper)])
    bodies, places, poses = on_host(model.shape_body), on_host(model.shape_transform), on_host(present(state.body_q))
    points = []
    for shape in shapes:
        pose: Any = wp.transform(*places[shape])
        if bodies[shape] >= 0:
            pose = wp.transform(*poses[bodies[shape]]) * pose
        for corner in itertools.product((0, 1), repeat=3):
            point: Any = wp.vec3(*ends[corner, shape, range(3)])
            points.append(wp.transform_point(pose, point))
    return np.min(points, axis=0), np.max(points, axis=0)
