"""Lists of what Newton made of a robot file or a scene, and of what only MuJoCo's model of an MJCF file has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import mujoco
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.assets.mjcf.keyframes import keyframe_names
from pippin.axes import axis_labels
from pippin.config.component import ComponentConfig
from pippin.labels import name_of
from pippin.matter import OF_BODIES, OF_PARTICLES, Matter
from pippin.sensing import cameras_of
from pippin.support.features import NO_LIMIT
from pippin.viewing.bounding_box import corners_of

from .rows import (
    ActuatorRow,
    AttachmentRow,
    BodyRow,
    CameraRow,
    JointRow,
    KeyframeRow,
    MatterRow,
    MotionRow,
    SensorRow,
    ShapeRow,
    SiteRow,
    TendonRow,
)

WORLD = "world"

_DIGITS = 7
"""Digits of a float32; more would be noise."""

_SIZE_COUNTS = {"sphere": 1, "capsule": 2, "cylinder": 2, "cone": 2, "plane": 2}
"""Numbers in the scale of a shape that are its size; three for other types."""


_PARTS = {"faces": ("tri_indices", 3), "tetrahedra": ("tet_indices", 4), "springs": ("spring_indices", 2)}
"""What joins particles: the array of their indices, and how many each part has."""

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


def numbers(values: Iterable[Any]) -> tuple[float, ...]:
    """Return values without the noise of single precision, and without negative zeros."""
    return tuple(float(f"{float(value):.{_DIGITS}g}") + 0.0 for value in values)


def body_rows(builder: newton.ModelBuilder, bodies: Iterable[int]) -> Iterator[BodyRow]:
    """Yield some bodies."""
    parents = dict(zip(builder.joint_child, builder.joint_parent, strict=True))
    for body in bodies:
        label = builder.body_label[body]
        [mass] = numbers([builder.body_mass[body]])
        yield BodyRow(
            name=name_of(label),
            parent=body_name(builder, parents.get(body, -1)),
            mass=mass,
            centre_of_mass=numbers(builder.body_com[body]),
            label=label,
        )


def joint_rows(builder: newton.ModelBuilder, joints: Iterable[int]) -> Iterator[JointRow]:
    """Yield the axes of some joints; joints without axes of one coordinate each as one row."""
    ends = [*builder.joint_q_start[1:], builder.joint_coord_count]
    for joint in joints:
        name, labels = newton.JointType(builder.joint_type[joint]).name.lower(), axis_labels(builder, [joint])
        coordinate, dof = builder.joint_q_start[joint], builder.joint_qd_start[joint]
        if name not in ("revolute", "prismatic", "d6") or not labels:
            start = builder.joint_q[coordinate : ends[joint]]
            yield _joint_row(builder, joint, dof if labels else None, builder.joint_label[joint], name, start)
            continue
        linear_count = builder.joint_dof_dim[joint][0]
        for axis, label in enumerate(labels):
            kind = name if name != "d6" else f"d6 {'prismatic' if axis < linear_count else 'revolute'}"
            start = builder.joint_q[coordinate + axis : coordinate + axis + 1]
            yield _joint_row(builder, joint, dof + axis, label, kind, start)


def _joint_row(
    builder: newton.ModelBuilder, joint: int, dof: int | None, label: str, kind: str, start: list[float]
) -> JointRow:
    def value(name: str) -> float:
        return 0.0 if dof is None else numbers([getattr(builder, f"joint_{name}")[dof]])[0]

    def limit(name: str) -> float | None:
        found = value(name)
        return None if dof is None or abs(found) >= NO_LIMIT else found

    has_axis = kind.endswith(("revolute", "prismatic"))
    is_limited = has_axis or kind == "ball"
    kp, kd = value("target_ke"), value("target_kd")
    mode = newton.JointTargetMode.NONE if dof is None else newton.JointTargetMode(builder.joint_target_mode[dof])
    return JointRow(
        name=name_of(label),
        type=kind,
        body=body_name(builder, builder.joint_child[joint]),
        axis=numbers(builder.joint_axis[dof]) if has_axis and dof is not None else None,
        lower=limit("limit_lower") if is_limited else None,
        upper=limit("limit_upper") if is_limited else None,
        start=numbers(start),
        drive=mode.name.lower() if kp or kd else "none",
        kp=kp,
        kd=kd,
        damping=value("damping"),
        armature=value("armature"),
        friction=value("friction"),
        effort_limit=limit("effort_limit"),
        velocity_limit=limit("velocity_limit"),
        label=label,
    )


def shape_rows(builder: newton.ModelBuilder, shapes: Iterable[int]) -> Iterator[ShapeRow]:
    """Yield some shapes, without sites."""
    for shape in shapes:
        label = builder.shape_label[shape]
        if not builder.shape_flags[shape] & newton.ShapeFlags.SITE:
            kind = newton.GeoType(builder.shape_type[shape]).name.lower()
            collides = builder.shape_flags[shape] & newton.ShapeFlags.COLLIDE_SHAPES
            yield ShapeRow(
                name=name_of(label),
                body=body_name(builder, builder.shape_body[shape]),
                type=kind.replace("_", " "),
                size=numbers(_size(builder, shape, kind)),
                use="collides" if collides else "visual",
                label=label,
            )


def site_rows(builder: newton.ModelBuilder, shapes: Iterable[int]) -> Iterator[SiteRow]:
    """Yield the sites among some shapes, without the cameras."""
    cameras = cameras_of(builder)
    for shape in shapes:
        label = builder.shape_label[shape]
        if builder.shape_flags[shape] & newton.ShapeFlags.SITE and shape not in cameras:
            place: Any = builder.shape_transform[shape]
            body = body_name(builder, builder.shape_body[shape])
            yield SiteRow(
                name=name_of(label), body=body, position=numbers(place.p), rotation=numbers(place.q), label=label
            )


def _size(builder: newton.ModelBuilder, shape: int, kind: str) -> np.ndarray:
    scale = np.array(builder.shape_scale[shape])
    vertices = getattr(builder.shape_source[shape], "vertices", None)
    if vertices is not None:
        return np.ptp(np.asarray(vertices) * scale, axis=0) / 2.0
    is_barrel = kind == "cylinder" and scale[2] > 0.0  # the third size is the radius of its arc
    size = scale[: 3 if is_barrel else _SIZE_COUNTS.get(kind, 3)]
    return size if size.any() else size[:0]


def body_name(builder: newton.ModelBuilder, body: int) -> str:
    """Return the last part of the label of a body; `world` for none."""
    return WORLD if body < 0 else name_of(builder.body_label[body])


def segments_of(model: newton.Model) -> frozenset[int]:
    """Return the bodies that are segments of cables."""
    curves = Matter.of(model, *OF_BODIES)
    return frozenset(curves.elements(np.arange(len(curves.labels))).ravel().tolist()) - {-1}


def matter_rows(model: newton.Model, first_particle: int, first_body: int) -> Iterator[MatterRow]:
    """Yield the objects of matter from some elements on, and the particles of none, at the start of a model."""
    matter = Matter.of(model, *OF_PARTICLES)
    blocks = list(zip(matter.labels, matter.kinds, matter.starts.tolist(), matter.counts.tolist(), strict=True))
    is_free = np.ones(model.particle_count, dtype=bool)
    for _, _, start, count in blocks:
        is_free[start : start + count] = False
    for label, kind, start, count in blocks:
        if start >= first_particle:
            yield _of_particles(model, label, kind, np.arange(start, start + count))
    free = np.flatnonzero(is_free)
    if (free >= first_particle).any():
        yield _of_particles(model, "particles", "particles", free[free >= first_particle])
    cables = Matter.of(model, *OF_BODIES)
    for label, start, count in zip(cables.labels, cables.starts.tolist(), cables.counts.tolist(), strict=True):
        if start >= first_body:
            yield _of_bodies(model, label, np.arange(start, start + count))


def _of_particles(model: newton.Model, label: str, kind: str, particles: np.ndarray) -> MatterRow:
    points, masses = on_host(model.particle_q)[particles], on_host(model.particle_mass)[particles]
    counts = {}
    for name, (array, width) in _PARTS.items():
        indices: Any = getattr(model, array)
        firsts = () if indices is None else on_host(indices).reshape(-1, width)[:, 0]
        counts[name] = int(np.isin(firsts, particles).sum())
    return _row(label, kind, points, masses, float(on_host(model.particle_radius)[particles].mean()), **counts)


def _of_bodies(model: newton.Model, label: str, bodies: np.ndarray) -> MatterRow:
    shapes = np.flatnonzero(np.isin(on_host(model.shape_body), bodies))
    corners = corners_of(model, shapes, on_host(model.body_q))
    return _row(
        label, "cable", corners, on_host(model.body_mass)[bodies], float(on_host(model.shape_scale)[shapes[0], 0])
    )


def _row(label: str, kind: str, points: np.ndarray, masses: np.ndarray, radius: float, **counts: int) -> MatterRow:
    mass, rounded = numbers([masses.sum(dtype=float), radius])
    return MatterRow(
        name=name_of(label) or label,
        kind=kind,
        count=len(masses),
        pinned=int((masses == 0.0).sum()),
        mass=mass,
        radius=rounded,
        lowest=numbers(points.min(axis=0)),
        highest=numbers(points.max(axis=0)),
        label=label,
        **{"faces": 0, "tetrahedra": 0, "springs": 0, **counts},
    )


def tendon_rows(builder: newton.ModelBuilder) -> Iterator[TendonRow]:
    """Yield the tendons in order."""
    starts = [*builder.tendon_start[: len(builder.tendon_label)], len(builder.tendon_guide_body)]
    for tendon, (label, (first, end)) in enumerate(zip(builder.tendon_label, pairwise(starts), strict=True)):
        kinds = (newton.TendonGuideType(each).name.lower() for each in builder.tendon_guide_type[first:end])
        bodies = (body_name(builder, each) for each in builder.tendon_guide_body[first:end])
        spans = builder.tendon_segment_compliance[first - tendon : end - tendon - 1]
        yield TendonRow(
            name=name_of(label),
            guides=tuple(map(" ".join, zip(kinds, bodies, strict=True))),
            compliance=numbers([max(spans)])[0],
            label=label,
        )


def attachment_rows(builder: newton.ModelBuilder, objects: Mapping[str, range]) -> Iterator[AttachmentRow]:
    """Yield what each body holds of each object. `objects` are the particles of each, by its label."""
    owners = {particle: label for label, particles in objects.items() for particle in particles}
    held: Counter[Any] = Counter(
        zip(
            (owners[each] for each in builder.attachment_particle_body_particle),
            builder.attachment_particle_body_body,
            builder.attachment_particle_body_stiffness,
            strict=True,
        )
    )
    for (label, body, stiffness), count in held.items():
        value = None if math.isinf(stiffness) else numbers([stiffness])[0]
        yield AttachmentRow(name=label, body=body_name(builder, body), count=count, stiffness=value)


def motion_rows(motions: Mapping[str, ComponentConfig]) -> Iterator[MotionRow]:
    """Yield the motions in the order of the file."""
    for label, chosen in motions.items():
        config: Any = chosen.config
        what = getattr(config, config.subject)
        text = ", ".join(what) if config.subject == "joints" else getattr(what, "of", what)
        yield MotionRow(name=label, type=chosen.type, moves=f"{config.subject.replace('_', ' ')} {text}")


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
        yield CameraRow(
            name=own.name or str(index),
            body=model.body(model.cam_bodyid[index]).name,
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
