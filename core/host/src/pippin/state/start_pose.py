"""The start pose of a model: joints outside their limits, and shapes that overlap before the first step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.labels import name_of
from pippin.solving.contact_source import ContactSource
from pippin.spelling import listed

from .pipeline_kernels import kernels_made_once

_TOLERANCE = 2e-3
"""Overlap that is too small to disturb the first steps [m], and the same number for joint limits [m or rad]."""


@attrs.frozen(kw_only=True)
class Overlap:
    """Two shapes that overlap in the start pose."""

    shapes: tuple[int, int]
    """Indices of the shapes."""

    depth: float
    """Depth of the overlap [m]."""

    is_own: bool
    """Whether both shapes belong to one articulation."""


def limit_notes(model: newton.Model) -> list[str]:
    """Return a note on the joints that start outside their limits, if there are any.

    Args:
        model: The model, in its start pose.
    """
    found = list(dict.fromkeys(_outside_limits(model)))
    if not found:
        return []
    joints = "1 joint starts" if len(found) == 1 else f"{len(found)} joints start"
    whose = "its" if len(found) == 1 else "their"
    return [f"{joints} outside {whose} limits: {listed(found)}; set joint_positions of the asset"]


def _outside_limits(model: newton.Model) -> Iterator[str]:
    """Yield joint, position and limit of each joint axis outside its limits, alike for all worlds that are alike."""
    if not model.joint_dof_count:
        return
    axes = _axes(model)
    position = on_host(model.joint_q)[axes[:, 0]]
    low, high = (on_host(each)[axes[:, 1]] for each in (model.joint_limit_lower, model.joint_limit_upper))
    is_above = position > high + _TOLERANCE
    outside = np.flatnonzero((is_above | (position < low - _TOLERANCE)) & (low <= high))
    for row in outside:
        label, at = model.joint_label[axes[row, 2]], position[row]
        yield f"{name_of(label)} {at:.3g} {'>' if is_above[row] else '<'} {(high if is_above[row] else low)[row]:.3g}"


def _axes(model: newton.Model) -> np.ndarray:
    """Return coordinate, DOF and joint of each axis of the joints that have axes, shape [axes, 3]."""
    kinds = (newton.JointType.REVOLUTE, newton.JointType.PRISMATIC, newton.JointType.D6)
    joints = np.flatnonzero(np.isin(on_host(model.joint_type), [int(kind) for kind in kinds]))
    coordinates, dofs = on_host(model.joint_q_start), on_host(model.joint_qd_start)
    rows = [
        (coordinates[joint] + axis, dofs[joint] + axis, joint)
        for joint in joints
        for axis in range(dofs[joint + 1] - dofs[joint])
    ]
    return np.array(rows, dtype=int).reshape(-1, 3)


def overlap_notes(model: newton.Model, found: Sequence[Overlap]) -> list[str]:
    """Return a note on the overlaps within assets, and one on those between assets and with the ground."""
    own, other = ([each for each in found if each.is_own == is_own] for is_own in (True, False))
    cures = ("set self_collisions = false of the asset, or another start pose", "set another start pose")
    what = ("of an asset with itself", "with the ground or another asset")
    notes = []
    for overlapping, cure, kind in zip((own, other), cures, what, strict=True):
        if overlapping:
            pairs = "1 overlap" if len(overlapping) == 1 else f"{len(overlapping)} overlaps"
            places = [
                f"{' and '.join(_owner(model, shape) for shape in each.shapes)} {1000 * each.depth:.3g} mm"
                for each in overlapping
            ]
            notes.append(f"{pairs} {kind} at the start: {listed(places)}; {cure}")
    return notes


def overlaps(model: newton.Model, solver: Any, source: ContactSource) -> list[Overlap]:
    """Return the overlapping pairs of bodies in the start pose of the first world, the deepest first.

    MuJoCo's solvers answer from the contacts that MuJoCo's C engine finds, other solvers from one detection of their
    pipeline into a buffer of its own. A solver without either gives no overlaps, and neither does a scene
    of particles alone.

    Args:
        model: The model.
        solver: The solver of its simulation.
        source: Who finds its contacts.
    """
    if getattr(solver, "mj_data", None) is not None:
        found = _of_mujoco(solver)
    elif source.pipeline is not None and model.body_count:
        found = _of_pipeline(model, source.pipeline)
    else:
        found = iter(())
    return _deepest(model, found)


def _of_mujoco(solver: Any) -> Iterator[tuple[int, int, float]]:
    mujoco: Any = newton.solvers.SolverMuJoCo.import_mujoco()[0]
    data = mujoco.MjData(solver.mj_model)
    data.qpos[:] = solver.mj_data.qpos
    mujoco.mj_forward(solver.mj_model, data)
    contact, shape_of_geom = data.contact, on_host(solver.mjc_geom_to_newton_shape)[0]
    for (first, second), distance in zip(contact.geom, contact.dist, strict=True):
        if first >= 0 and second >= 0:
            yield int(shape_of_geom[first]), int(shape_of_geom[second]), -float(distance)


def _of_pipeline(model: newton.Model, pipeline: newton.CollisionPipeline) -> Iterator[tuple[int, int, float]]:
    if pipeline.contact_matching != "disabled":
        # A detection would change the matches that the next step starts from.
        with kernels_made_once():
            pipeline = newton.CollisionPipeline(model, publish_capacity=False)
    state, contacts = model.state(requires_grad=False), pipeline.contacts()
    if model.joint_count:
        newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state)
    pipeline.collide(state, contacts)
    distance = wp.zeros(contacts.rigid_contact_max, dtype=float, device=model.device)
    newton.eval_rigid_contact_kinematics(model, state, contacts, out_distance=distance)
    count = min(int(contacts.rigid_contact_count.numpy()[0]), contacts.rigid_contact_max)
    columns = (contacts.rigid_contact_shape0, contacts.rigid_contact_shape1, distance)
    for first, second, gap in zip(*(on_host(column)[:count].tolist() for column in columns), strict=True):
        yield first, second, -gap


def _deepest(model: newton.Model, found: Iterable[tuple[int, int, float]]) -> list[Overlap]:
    """Return for each pair of bodies of the first world its deepest overlap, the deepest pair first."""
    worlds, bodies = on_host(model.shape_world), on_host(model.shape_body)
    articulations = np.full(model.body_count + 1, -1)  # of each body, and of the world at the end
    if model.joint_count:
        articulations[on_host(model.joint_child)] = on_host(model.joint_articulation)
    pairs: dict[tuple[int, int], Overlap] = {}
    for first, second, depth in found:
        if first < 0 or second < 0 or depth < _TOLERANCE or max(worlds[first], worlds[second]) > 0:
            continue
        pair = (min(bodies[first], bodies[second]), max(bodies[first], bodies[second]))
        if pair in pairs and pairs[pair].depth >= depth:
            continue
        trees = articulations[list(pair)]
        is_own = bool(min(pair) >= 0 and trees[0] == trees[1] >= 0)
        pairs[pair] = Overlap(shapes=(first, second), depth=depth, is_own=is_own)
    return sorted(pairs.values(), key=lambda overlap: -overlap.depth)


def _owner(model: newton.Model, shape: int) -> str:
    body = int(on_host(model.shape_body)[shape])
    return name_of(model.shape_label[shape] if body < 0 else model.body_label[body])
