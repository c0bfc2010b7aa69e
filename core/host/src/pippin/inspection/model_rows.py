"""Lists of what Newton's importer made of a robot file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import newton
import numpy as np
from pippin.axes import axis_labels
from pippin.labels import name_of
from pippin.sensing import cameras_of
from pippin.support.features import NO_LIMIT

from .rows import BodyRow, JointRow, ShapeRow, SiteRow

WORLD = "world"

_DIGITS = 7
"""Digits of a float32; more would be noise."""

_SIZE_COUNTS = {"sphere": 1, "capsule": 2, "cylinder": 2, "cone": 2, "plane": 2}
"""Numbers in the scale of a shape that are its size; three for other types."""


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
