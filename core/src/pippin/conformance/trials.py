"""Trial of all runtime changes of a solver: each on its own body, and in the last of three worlds alone."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.errors import PippinError
from pippin.simulation import Simulation

from .mechanisms import DURATION
from .observation import model_and_state, step
from .plugin_under_test import PluginUnderTest
from .runtime_changes import RUNTIME_CHANGES, RuntimeChange, cell_of
from .scenes import equal_moments

WORLDS = 3
"""Worlds of a trial; the last one is asked."""

_MASS, _INERTIA, _HEIGHT = 1.0, 0.01, 1.0


@attrs.frozen(kw_only=True, eq=False)
class Answer:
    """Outcome of an ask."""

    refusal: str = ""
    """Text of the error if the call was refused."""

    motions: np.ndarray | None = None
    """Motion of the body in each world if the call was accepted."""


def answers(subject: PluginUnderTest) -> Mapping[str, Answer]:
    """Return the answer to each ask for which the solver supports the body.

    Every joint is prepared for what the solver cannot add to it later.
    """
    tried = _tried(subject)
    if not tried:
        return {}
    with _built(subject, tried, settable_joints=True) as simulation:
        before = _motions(simulation)
        honoured = {name for name, ask in tried.items() if cell_of(ask, subject.declaration).is_honoured}
        refusals = {name: _ask(simulation, ask, ask.first if name in honoured else {}) for name, ask in tried.items()}
        for _ in range(round(DURATION / subject.dt)):
            _push(simulation)
            step(simulation, 1)
        after = _motions(simulation)
    return {
        name: Answer(refusal=text) if text else Answer(motions=_measured(tried[name], before, after))
        for name, text in refusals.items()
    }


def refusals(subject: PluginUnderTest) -> Mapping[str, str]:
    """Return the error of each ask for what the solver, as it declares, cannot add to a joint; empty for no error."""
    tried = {name: ask for name, ask in _tried(subject).items() if cell_of(ask, subject.declaration).is_fixed}
    if not tried:
        return {}
    with _built(subject, tried, settable_joints=False) as simulation:
        return {name: _ask(simulation, ask, {}) for name, ask in tried.items()}


def _tried(subject: PluginUnderTest) -> dict[str, RuntimeChange]:
    features = subject.features
    return {name: ask for name, ask in RUNTIME_CHANGES.items() if features is None or ask.of_body <= features}


def _built(subject: PluginUnderTest, asks: Mapping[str, RuntimeChange], *, settable_joints: bool) -> Simulation:
    scene = functools.partial(_add, asks)
    return subject.build(count=1, scene=scene, world_count=WORLDS, is_on_ground=False, settable_joints=settable_joints)


def _add(asks: Mapping[str, RuntimeChange], builder: newton.ModelBuilder) -> None:
    """Add the body of each ask, all side by side along y."""
    for index, (name, ask) in enumerate(asks.items()):
        place = wp.transform(wp.vec3(0.0, float(index), _HEIGHT), wp.quat_identity())
        body = builder.add_link(label=name, mass=_MASS, inertia=equal_moments(_INERTIA), xform=place)
        joint = _joint(builder, ask, body, place)
        builder.add_articulation([joint], label=name)
        if ask.body == "slider":
            builder.joint_q[-1], builder.joint_qd[-1] = ask.start


def _joint(builder: newton.ModelBuilder, ask: RuntimeChange, body: int, place: Any) -> int:
    if ask.body == "ball":
        return builder.add_joint_free(body)
    if ask.body == "held":
        return builder.add_joint_fixed(-1, body, parent_xform=place)
    if ask.body == "wheel":
        return builder.add_joint_revolute(-1, body, parent_xform=place, axis=(0.0, 0.0, 1.0), armature=0.0)
    return builder.add_joint_prismatic(-1, body, parent_xform=place, axis=(1.0, 0.0, 0.0), armature=0.0)


def _ask(simulation: Simulation, ask: RuntimeChange, first: Mapping[str, float]) -> str:
    """RuntimeChange in the last world, and return the text of the error; empty if the call was accepted."""
    views = simulation.view
    is_of_bodies = not hasattr(views.articulations(ask.label), ask.name)
    view: Any = views.rigid_bodies(ask.label) if is_of_bodies else views.articulations(ask.label)
    try:
        for name, value in first.items():
            getattr(view, name)(np.full((WORLDS, 1), value, dtype=np.float32))
        getattr(view, ask.name)(**_arguments(ask, view, is_of_bodies))
    except PippinError as error:
        return str(error)
    return ""


def _arguments(ask: RuntimeChange, view: Any, is_of_bodies: bool) -> dict[str, Any]:
    dtype: Any = {bool: np.bool_, int: np.uint8}.get(type(ask.value), np.float32)
    row = np.asarray(ask.value, dtype=dtype).reshape(-1)
    is_alone = is_of_bodies or "root" in ask.name  # one row of numbers, without an axis of links or DOFs
    shape = (WORLDS, *(() if is_alone else (1,)), *(row.shape if row.size > 1 else ()))
    data = "forces" if ask.name == "apply_forces" else "data"
    rows = np.broadcast_to(row if row.size > 1 else row[0], shape).copy()
    flags = sum(newton.ModelFlags[flag] for flag in ask.flags)
    attribute = {"name": ask.attribute, "flags": flags} if ask.attribute else {}
    return {data: rows, "indices": [WORLDS - 1], **attribute}


def _push(simulation: Simulation) -> None:
    model, state = model_and_state(simulation)
    forces = np.zeros((model.body_count, 6), dtype=np.float32)
    for body, label in enumerate(model.body_label):
        if label in RUNTIME_CHANGES:  # others stand beside
            forces[body, 0], forces[body, 5] = RUNTIME_CHANGES[label].push, RUNTIME_CHANGES[label].torque
    # What a view adds for the next step stays.
    state.body_f.assign(state.body_f.numpy() + forces)


def _motions(simulation: Simulation) -> dict[str, np.ndarray]:
    """Return positions and velocities of the body of each ask [m, m/s, rad/s], shape [WORLDS, 9]."""
    model, state = model_and_state(simulation)
    rows = np.hstack([state.body_q.numpy()[:, :3], state.body_qd.numpy()]).reshape(WORLDS, -1, 9)
    return {label: rows[:, index].copy() for index, label in enumerate(model.body_label[: rows.shape[1]])}


_COLUMNS = {"x": 0, "y": 1, "z": 2, "x speed": 3, "y speed": 4, "z speed": 5, "turn speed": 8}


def _measured(ask: RuntimeChange, before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> np.ndarray:
    column = _COLUMNS[ask.motion]
    return (after[ask.label] - before[ask.label])[:, column]
