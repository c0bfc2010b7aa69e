"""One arm as URDF, MJCF, USD, objects of a file and Python: what is said in five ways moves in one."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from pippin import Simulation, structure
from pippin.arrays import on_host

from .observation import step
from .plugin_under_test import PluginUnderTest, tables_of

_ARM = Path(__file__).parent / "arm"
_TIME = 0.1
_ROUNDING = np.repeat([1e-5, 5e-4, 1e-2], [7, 7, 6])
"""Differences that rounding may make of the pose at the start and at the end [m, 1] and of the velocities [m/s, rad/s].
"""


class _InPython:
    """Adds the arm to each world by calls of Newton, from the same numbers as the objects."""

    def __init__(self, bodies: list[dict[str, Any]]) -> None:
        self._bodies = bodies

    @pippin.hookimpl
    def fill_prototype(self, builder: newton.ModelBuilder) -> None:
        """Add two links."""
        parent, joints = -1, []
        pose: Any = wp.transform()
        for each in self._bodies:
            now: Any = wp.transform(each["position"], each["rotation"])
            inertia = wp.mat33(np.diag(each["inertia"]).ravel())
            body = builder.add_link(
                xform=now, mass=each["mass"], inertia=inertia, com=each["com"], lock_inertia=True, label=each["label"]
            )
            frame = wp.transform_inverse(pose) * now
            axis = each["joint"]["axis"]
            joints.append(builder.add_joint_revolute(parent, body, parent_xform=frame, axis=axis, armature=0.0))
            parent, pose = body, now
        builder.add_articulation(joints, label="python")


def motions_of_forms(subject: PluginUnderTest) -> dict[str, np.ndarray]:
    """Return the poses at the start and at the end, and the velocities, of the arm in each form, in the last world.

    A form whose format no installed package reads is left out.
    """
    objects = tomllib.loads((_ARM / "arm.toml").read_text(encoding="utf-8"))["objects"]
    files = {"urdf": "arm.urdf", "mjcf": "arm.xml"} | ({"usd": "arm.usda"} if importlib.util.find_spec("pxr") else {})
    assets = [
        {"path": str(_ARM / name), "label": form} | ({"collapse_fixed_joints": True} if form == "urdf" else {})
        for form, name in files.items()
    ]
    scene = {"worlds": 2, "ground": False, "gravity": [3.0, -6.0, -2.0], "assets": assets, "objects": objects}
    tables: dict[str, Any] = {"simulation": {"device": "cpu", "capture": "off", "dt": subject.dt}, "scene": scene}
    config = structure(tables | tables_of(subject.record, subject.table))
    with Simulation(config, [_InPython(objects)]) as simulation:
        labels = simulation.model.body_label
        start = on_host(simulation.state.body_q).copy()
        step(simulation, round(_TIME / simulation.dt))
        state = simulation.state
        rows = np.hstack([start, on_host(state.body_q), on_host(state.body_qd)]).astype(float)
    forms = (*files, "objects", "python")
    own = rows[len(labels) // 2 :]  # of the last world
    return {form: own[2 * index : 2 * index + 2] for index, form in enumerate(forms)}


def differing_form(motions: Mapping[str, np.ndarray]) -> str:
    """Return how a form differs from the arm that Python made; an empty text if none does."""
    expected = motions["python"]
    for form, found in motions.items():
        signs = np.ones_like(found)
        for turn in (slice(3, 7), slice(10, 14)):
            signs[:, turn] = np.sign((found[:, turn] * expected[:, turn]).sum(axis=1, keepdims=True))
        shares = np.abs(signs * found - expected) / _ROUNDING
        link, number = np.unravel_index(np.nan_to_num(shares, nan=np.inf).argmax(), shares.shape)
        if not shares[link, number] <= 1.0:
            what = ("the pose at the start", "the pose after 0.1 s", "the velocity after 0.1 s")[number // 7]
            return f"as {form}, {what} of link {link} is {np.abs(signs * found - expected)[link, number]:.2g} off"
    return ""
