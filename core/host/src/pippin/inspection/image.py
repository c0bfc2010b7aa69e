"""Images of a scene in its start pose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.assembly.poses import whole_scene
from pippin.assembly.scene import finalize
from pippin.axes import axis_labels
from pippin.config import SimulationConfig
from pippin.errors import ConfigError
from pippin.extras import import_library
from pippin.labels import name_of
from pippin.matter import render_matter
from pippin.quaternions import conjugate, rotated
from pippin.rendering.cameras import look_at
from pippin.rendering.renderer import render_image
from pippin.state.start_pose import limit_notes
from pippin.viewing.bounding_box import bounding_box

_SIZE = (720, 540)
"""Width and height of the image of a scene [pixels]."""

_FOV = 0.7
"""Angle of view from its upper to its lower edge [rad]."""

_FROM = np.array((1.0, -1.6, 0.8))
"""Direction from the robot to the camera."""


_STILL = (newton.JointType.FREE, newton.JointType.FIXED, newton.JointType.DISTANCE, newton.JointType.ROD)
"""Types of joints whose names are left out: without axes, or between the segments of a cable."""


_HEIGHT, _MARGIN = 13, 2
"""Height of a line of text, and the margin around it [pixels]."""

_INK, _PAPER, _POINT = (32, 36, 44), (250, 250, 252), (0, 70, 255)
"""Colours of letters, of the box behind them, and of points and lines."""

_GAP = 14
"""Distance of a name from its point [pixels]."""


def draw_scene(config: SimulationConfig, file: Path) -> list[str]:
    """Write an image of the start pose of a scene with the names of its joints and of its matter, on a plane under its
    lowest point, and return notes on the pose. Planes of the scene are left out.
    """
    if file.suffix.lower() != ".png" or not file.parent.is_dir():
        raise ConfigError(f"draw: '{file}' cannot be written; name a .png file in a folder that exists")
    images: Any = import_library("PIL.Image", "draw")
    device = wp.get_device("cpu")
    with wp.ScopedDevice(device):
        builder = whole_scene(config).builder
        for shape, kind in enumerate(builder.shape_type):
            if kind == newton.GeoType.PLANE and builder.shape_body[shape] < 0:  # it may hide the robot, or its light
                builder.shape_flags[shape] &= ~int(newton.ShapeFlags.VISIBLE)
        ground = builder.add_ground_plane()
        model = finalize(builder, device, has_valid_inertias=True)  # no step is taken
        state = model.state()
        if model.joint_count:
            newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state)
        ends = bounding_box(model, state, world=-1)
        if ends is None:
            raise ConfigError("draw: nothing there can be seen; leave the option out")
        low, high = ends
        present(model.shape_transform)[ground : ground + 1].fill_(
            wp.transform((0.0, 0.0, low[2] - 1e-3), wp.quat_identity())
        )
        middle, radius = (low + high) / 2.0, np.linalg.norm(high - low) / 2.0
        eye = middle + _FROM / np.linalg.norm(_FROM) * radius / np.sin(_FOV / 2.0)
        image = images.fromarray(render_image(model, state, eye, middle, _SIZE, _FOV))
        names, points = _names(model, state)
        add_names(image, names, _in_image(points, look_at(eye, middle)))
    image.save(file)
    return limit_notes(model)


def _names(model: newton.Model, state: newton.State) -> tuple[list[str], np.ndarray]:
    """Return the names of the joints that move something and of the objects of matter, and their positions [m]."""
    names, points = [], [np.zeros((0, 3))]
    if model.joint_count:
        joints = np.flatnonzero(~np.isin(on_host(model.joint_type), _STILL))
        poses = on_host(state.body_q)[on_host(model.joint_child)[joints]]
        points.append(rotated(poses[:, 3:], on_host(model.joint_X_c)[joints, :3]) + poses[:, :3])
        names += [", ".join(map(name_of, axis_labels(model, [int(joint)]))) for joint in joints]
    for seen in render_matter(model, ()):
        places = on_host(state.body_q)[seen.bodies, :3] if len(seen.bodies) else seen.of(on_host(state.particle_q))
        points.append(places.mean(axis=0, keepdims=True))
        names.append(name_of(seen.label) or seen.label)
    return names, np.concatenate(points)


def _in_image(points: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Return the columns and rows of positions [m] in the image, shape [points, 2]."""
    seen = rotated(conjugate(camera[None, 3:]), points - camera[:3])
    scale = _SIZE[1] / 2.0 / np.tan(_FOV / 2.0) / -seen[:, 2:]
    return np.array(_SIZE) / 2.0 + seen[:, :2] * scale * (1.0, -1.0)


def add_names(image: Any, names: Sequence[str], points: np.ndarray) -> None:
    """Write names into an image of Pillow beside points (column, row), without overlaps."""
    font = import_library("PIL.ImageFont", "draw").load_default(_HEIGHT)
    draw: Any = import_library("PIL.ImageDraw", "draw").Draw(image)
    height = _HEIGHT + 2 * _MARGIN
    taken = np.zeros((image.height, image.width), dtype=bool)
    for name, (column, row) in sorted(zip(names, points.tolist(), strict=True), key=lambda each: each[1][1]):
        if not (0 <= column < image.width and 0 <= row < image.height):
            continue
        width = round(font.getlength(name)) + 2 * _MARGIN
        left = max(0, min(round(column) + _GAP, image.width - width))
        top = _free_row(taken[:, left : left + width], round(row) - height // 2, height)
        draw.line((column, row, left, top + height // 2), fill=_POINT)
        draw.circle((column, row), 2, fill=_POINT)
        draw.rectangle((left, top, left + width - 1, top + height - 1), fill=_PAPER)
        draw.text((left + _MARGIN, top + height // 2), name, fill=_INK, font=font, anchor="lm")
        taken[top : top + height, left : left + width] = True


def _free_row(taken: np.ndarray, wanted: int, height: int) -> int:
    """Return the row nearest to the wanted one at which a box covers no other; the wanted one if there is none."""
    last = max(0, taken.shape[0] - height)
    for top in sorted(range(last + 1), key=lambda row: abs(row - wanted)):
        if not taken[top : top + height].any():
            return top
    return min(max(wanted, 0), last)
