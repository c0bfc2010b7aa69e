"""Lists of what only MuJoCo's model of an MJCF file has: actuators, sensors, cameras and keyframes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from pippin.assets.mjcf.keyframes import keyframe_names

from .model_rows import numbers
from .rows import ActuatorRow, CameraRow, KeyframeRow, SensorRow

_mujoco: Any = mujoco
"""MuJoCo; most of it is an extension without type stubs."""

_TARGETS = {"JOINT": "joint", "JOINTINPARENT": "joint", "TENDON": "tendon", "SITE": "site", "BODY": "body"}

_AT_SITES = {
    "imu": ("GYRO", "ACCELEROMETER", "FRAMELINACC", "FRAMEANGVEL"),
    "frame-transform": ("FRAMEPOS", "FRAMEQUAT", "FRAMEXAXIS", "FRAMEYAXIS", "FRAMEZAXIS"),
    "ray-caster": ("RANGEFINDER",),
}
_OTHERS = {
    "contact": ("TOUCH", "CONTACT"),
    "joint-wrench": ("FORCE", "TORQUE"),
    "joint-state": ("JOINTPOS", "JOINTVEL", "JOINTACTFRC", "BALLQUAT", "BALLANGVEL"),
}
"""Pippin's sensors, and the types of MuJoCo's that measure the same."""


def actuator_rows(model: Any) -> Iterator[ActuatorRow]:
    """Yield the actuators in order."""
    for index in range(model.nu):
        own = model.actuator(index)
        kind = _mujoco.mjtTrn(model.actuator_trntype[index]).name.removeprefix("mjTRN_")
        target = int(model.actuator_trnid[index, 0])
        name = getattr(model, _TARGETS[kind])(target).name if kind in _TARGETS else ""
        yield ActuatorRow(
            name=own.name or str(index),
            type=_kind(model, index),
            target=f"{_TARGETS.get(kind, 'slider crank')} {name}".strip(),
            gear=numbers(own.gear)[0],
            control_range=_range(own.ctrlrange) if own.ctrllimited[0] else None,
            effort_range=_range(own.forcerange) if own.forcelimited[0] else None,
        )


def _kind(model: Any, index: int) -> str:
    """Return the element of an MJCF file that such an actuator is written as."""
    gains, bias = model.actuator_gainprm[index], model.actuator_biasprm[index]
    dynamics = _mujoco.mjtDyn(model.actuator_dyntype[index]).name.removeprefix("mjDYN_")
    law = [
        _mujoco.mjtGain(model.actuator_gaintype[index]).name.removeprefix("mjGAIN_"),
        _mujoco.mjtBias(model.actuator_biastype[index]).name.removeprefix("mjBIAS_"),
    ]
    if model.actuator_trntype[index] == _mujoco.mjtTrn.mjTRN_BODY:
        return "adhesion"
    if dynamics == "MUSCLE":
        return "muscle"
    if law == ["FIXED", "NONE"] and dynamics == "NONE":
        return "motor"
    if law == ["FIXED", "AFFINE"] and bias[0] == 0.0 and gains[0] > 0.0:
        if bias[1] == -gains[0]:
            return "intvelocity" if dynamics == "INTEGRATOR" else "position"
        if bias[1] == 0.0 and bias[2] == -gains[0]:
            return "velocity"
    return "damper" if law == ["AFFINE", "NONE"] and not gains[:2].any() else "general"


def sensor_rows(model: Any) -> Iterator[SensorRow]:
    """Yield the sensors in order."""
    for index in range(model.nsensor):
        kind = _mujoco.mjtSensor(model.sensor_type[index]).name.removeprefix("mjSENS_")
        obj, target = _mujoco.mjtObj(model.sensor_objtype[index]), int(model.sensor_objid[index])
        what = obj.name.removeprefix("mjOBJ_").lower().replace("xbody", "body")
        name = (_mujoco.mj_id2name(model, obj, target) or str(target)) if target >= 0 else ""
        yield SensorRow(
            name=model.sensor(index).name or str(index),
            type=kind.lower(),
            target="" if what == "unknown" else f"{what} {name}".strip(),
            alternative=_alternative(kind, what, name),
        )


def _alternative(kind: str, what: str, name: str) -> str:
    place = f'{what} = "{name}"' if what in ("site", "body") else ""
    found = next((each for each, kinds in _AT_SITES.items() if kind in kinds), None)
    if found is not None:
        return ", ".join(filter(None, [f'type = "{found}"', place]))
    found = next((each for each, kinds in _OTHERS.items() if kind in kinds), None)
    return "" if found is None else f'type = "{found}"'


def camera_rows(model: Any) -> Iterator[CameraRow]:
    """Yield the cameras in order; the pose of one that follows something is that in the start pose."""
    for index in range(model.ncam):
        own = model.camera(index)
        [fov] = numbers(np.radians(own.fovy))
        body = int(model.cam_bodyid[index])
        yield CameraRow(
            name=own.name or str(index),
            body=model.body(body).name,
            position=numbers(own.pos),
            rotation=numbers(np.roll(own.quat, -1)),
            vertical_fov=fov,
        )


def keyframe_rows(model: Any) -> Iterator[KeyframeRow]:
    """Yield the keyframes in order."""
    joints = [model.joint(index) for index in range(model.njnt)]
    for index, name in enumerate(keyframe_names(model)):
        q = model.key_qpos[index]
        starts = [int(joint.qposadr[0]) for joint in joints]
        parts = zip(joints, starts, [*starts[1:], model.nq], strict=True)
        yield KeyframeRow(name=name, positions={joint.name: numbers(q[start:end]) for joint, start, end in parts})


def _range(values: np.ndarray) -> tuple[float, float]:
    low, high = numbers(values)
    return low, high
