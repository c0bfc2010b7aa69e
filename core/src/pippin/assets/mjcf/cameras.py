"""Cameras of an MJCF file, kept as sites with an angle of view, so that sensors find them by name."""

from __future__ import annotations

from typing import Any

import mujoco
import newton
import numpy as np
import warp as wp
from pippin.sensing.sites import declare_cameras, mark_camera

from .normal_form import NormalMJCF

_FIXED = int(getattr(mujoco, "mjtCamLight").mjCAMLIGHT_FIXED)  # noqa: B009  an extension without type stubs


def add_cameras(builder: newton.ModelBuilder, normal: NormalMJCF) -> None:
    """Add the cameras that are fixed to a body. Others, which follow a body without turning, have no fixed pose.

    Args:
        builder: The builder of this asset alone.
        normal: The file.
    """
    declare_cameras(builder)
    bodies = {label.rpartition("/")[2]: body for body, label in enumerate(builder.body_label)}
    for index in range(normal.model.ncam):
        camera: Any = normal.model.cam(index)
        body = bodies.get(normal.model.body(int(camera.bodyid[0])).name.replace("-", "_"))
        if camera.name and body is not None and int(camera.mode[0]) == _FIXED:
            frame = wp.transform(camera.pos, np.roll(camera.quat, -1))
            site = builder.add_site(body, xform=frame, label=f"{builder.body_label[body]}/{camera.name}")
            mark_camera(builder, site, float(np.deg2rad(camera.fovy[0])))
