"""Links on fixed joints, in one body with those they are fixed to for solvers that cannot hold them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import newton
import numpy as np
from pippin.assets.report import Imported
from pippin.attribute_rows import numbers
from pippin.labels import name_of
from pippin.sensing.sites import IS_FRAME, declare_frames, frames_of, mark_frame
from pippin.spelling import listed
from pippin.support.declaration import Declaration
from pippin.support.used_features import LIGHT


def merge_frames(builder: newton.ModelBuilder, declared: Declaration, imports: Iterable[Imported]) -> None:
    """Merge links of a prototype into those that they are fixed to, if the solver cannot hold them.

    A solver that needs masses gets massless and light links merged, and a link that carries the mass of a massless one
    is merged into it: such a root would hang in the air. A solver in maximal coordinates has six constraints for each
    fixed joint, which light links break, and one with a `longest_contact_step` pushes light links far: they get all
    links of a URDF merged whose asset does not say otherwise. A site with the label of the link keeps its place, so
    that sensors find it. Other fixed joints stay, and so do links that are fixed to the world alone.
    The joints of the assets are the first ones of the builder.
    """
    if declared.supported_features is None:
        return
    lacking = {"massless_bodies", "light_links"}.difference(declared.supported_features)
    is_hard = declared.coordinates in ("maximal", "mixed") or declared.longest_contact_step is not None
    loose = set(_joints_of_urdfs(imports)) if is_hard else set[int]()
    chosen = sorted(_joints(builder, lacking, loose))
    if not chosen:
        return
    labels = {builder.joint_child[joint]: builder.body_label[builder.joint_child[joint]] for joint in chosen}
    declare_frames(builder)
    for body, label in labels.items():
        mark_frame(builder, body, label)
    with warnings.catch_warnings(action="ignore"):  # Newton warns of massless links that stay, as the root's
        builder.collapse_fixed_joints(joints_to_keep=sorted(set(range(builder.joint_count)) - set(chosen)))


def with_cure(fault: str, builders: Iterable[newton.ModelBuilder]) -> str:
    """Return a fault, and the cure if it names a link that was merged."""
    for builder in builders:
        for site in frames_of(builder):
            name, head = (
                name_of(label) for label in (builder.shape_label[site], builder.body_label[builder.shape_body[site]])
            )
            if f"{name!r}" in fault:
                return f"{fault}; for this solver, {name!r} is merged into {head!r}: name {head!r}"
    return fault


def frame_notes(model: newton.Model) -> list[str]:
    """Return a note on the links that were merged; empty if there are none."""
    marks = numbers(model, IS_FRAME)
    bodies: Any = model.shape_body
    merged = np.flatnonzero(marks) if len(marks) else []
    heads = bodies.numpy() if len(merged) else []
    texts = (f"{name_of(model.shape_label[site])} into {name_of(model.body_label[heads[site]])}" for site in merged)
    found = listed(texts)
    return [f"links are merged into those they are fixed to, as sites: {found}"] if found else []


def _joints_of_urdfs(imports: Iterable[Imported]) -> Iterator[int]:
    count = 0
    for each in imports:
        joints = range(count, count + each.part.joint_count)
        count = joints.stop
        if each.asset.urdf is not None and each.asset.config.collapse_fixed_joints is None:
            yield from joints


def _joints(builder: newton.ModelBuilder, lacking: Collection[str], loose: Collection[int]) -> Iterator[int]:
    """Yield the fixed joints to merge; none if a fixed joint closes a loop, which Newton would open.

    The solver may lack `massless_bodies` and `light_links`; `loose` joints are merged whatever hangs on them.
    """
    kinds, parents, children = (builder.joint_type, builder.joint_parent, builder.joint_child)
    fixed = [joint for joint, kind in enumerate(kinds) if kind == newton.JointType.FIXED]
    if any(builder.joint_articulation[joint] < 0 for joint in fixed):
        return
    head = {children[joint]: parents[joint] for joint in fixed}
    is_lacking = [
        (mass == 0.0 and "massless_bodies" in lacking) or (0.0 < mass < LIGHT and "light_links" in lacking)
        for mass in builder.body_mass
    ]
    for joint in fixed:
        body, is_all_that_weighs = children[joint], True
        while body in head:
            body = head[body]
            is_all_that_weighs &= body >= 0 and is_lacking[body]
        is_in_need = body >= 0 and (is_lacking[children[joint]] or is_all_that_weighs)
        if is_in_need or (joint in loose and parents[joint] >= 0):
            yield joint
