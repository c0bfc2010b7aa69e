"""Relations of drawn trees that hold for any solver: in other units, with split bodies, in loops, and back in time.

The trees meet nothing and have no dampers: a solver may have margins, thresholds and stiffnesses of contacts in units
of its own. What may be left follows from what half the step changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import attrs
import newton
import numpy as np
from pippin.arrays import on_host

from . import trees
from .kinds import merged
from .observation import model_and_state, step
from .plugin_under_test import PluginUnderTest
from .scenes import GRAVITY
from .trees import Units, add_trees, allowance, distances, largest, trees_for, worst_share

TREE_RELATIONS: Mapping[str, str] = {
    "scale": "in units of 2 m, 4 kg and 2 s, with its gravity and step,",
    "split": "of which each body is two halves on a fixed joint",
    "loop": "of which the body is two halves that a joint outside of it ties,",
    "reverse": "whose velocities are turned round, so that it comes back,",
}
"""What is other in a tree, by the names of the checks."""

UNITS: Units = (2.0, 4.0, 2.0)
"""Powers of two, which change no digit; a stiffness in N/m stays as it is."""

_NAMES = ("hinges", "balls", "a slider with a hinge", "a free body with a hinge")
_LOOPS, _DURATION = ("a hinge", "a slider", "a ball joint"), 0.1

_LEAST, _LOOSE, _FLOORS = 0.03, 0.1, 4.0 * np.array(trees.FLOORS)
"""What may be left in any case, in units of the way: a solver may damp all motion, and its loops may be springs."""

_FALL, _GROWTH = 0.75, 1.25
"""What may be left of the way back with half the step, in units of what the whole step leaves: less; or about as
much if it is small, as joints that are springs with dampers do not give back what they take.
"""


def errors_of_tree_relations(subject: PluginUnderTest) -> dict[str, str]:
    """Return what is wrong with each relation, empty for one that holds; none of those that no tree shows.

    Places and turns count, and no velocities, which springs of joints make tremble.
    """
    features = subject.features or {}
    names = [name for name in _NAMES if name in trees_for(features)]
    if not names:
        return {}
    halves = names if "fixed_joints" in features else []
    loops = [name for name in _LOOPS if name in trees_for(features) and {"loop_joints", "free_joints"} <= set(features)]
    forms = {"": names, trees.HALVED: halves, trees.LOOPED: loops, trees.AT_REST: loops}
    long, short = (_run(attrs.evolve(subject, dt=subject.dt * factor), forms) for factor in (1.0, 0.5))
    scaled = _run(attrs.evolve(subject, dt=subject.dt * UNITS[2]), {"": names}, UNITS)
    found: dict[str, list[tuple[float, str]]] = {}
    for name in loops:
        (start, end, _), ends = short[name + trees.AT_REST], [run[name + trees.LOOPED][1] for run in (long, short)]
        most = np.maximum(_FLOORS + _LOOSE * largest(distances(end, start)), allowance(ends, start, end))
        found.setdefault("loop", []).append(worst_share(name, distances(ends[1], end)[:2], most[:2]))
    for name in names:
        start, end, back = long[name]
        way, lost = (largest(distances(each, start)) for each in (end, back))
        least = trees.FLOORS + _LEAST * way
        returned = np.maximum(_FALL * lost, np.minimum(_GROWTH * lost, trees.MOST * way))
        pairs = {
            "scale": (scaled[name][1], end, np.maximum(least, allowance([end, short[name][1]], start, end))),
            "reverse": (short[name][2], start, np.maximum(least, returned)),
        }
        if halves:
            ends = [run[name + trees.HALVED][1] for run in (long, short)]
            pairs["split"] = ends[1], short[name][1], np.maximum(least, allowance(ends, start, end))
        for relation, (one, other, most) in pairs.items():
            found.setdefault(relation, []).append(worst_share(name, distances(one, other)[:2], most[:2]))
    return {relation: text * (share > 1.0) for relation, each in found.items() for share, text in [max(each)]}


def _run(
    subject: PluginUnderTest, forms: Mapping[str, Collection[str]], units: Units = (1.0, 1.0, 1.0)
) -> dict[str, list[Any]]:
    """Return the poses and velocities of each tree, places without a unit: at the start, at the end, and back again."""
    length, _, time = units

    def scene(builder: newton.ModelBuilder) -> None:
        for form, names in forms.items():
            add_trees(names, builder, units, form)

    gravity = [0.0, 0.0, -GRAVITY * length / time**2]
    own = attrs.evolve(subject, tables=merged(subject.tables, {"scene": {"gravity": gravity}}))
    with own.build(count=1, scene=scene, is_on_ground=False, world_count=1) as simulation:
        model, state = model_and_state(simulation)
        owners = np.array([label.partition("/")[0] for label in model.body_label])
        is_whole = np.array(["other half" not in label for label in model.body_label])
        is_maximal = subject.declaration.coordinates == "maximal"
        seen = [_seen(state, length)]
        for _ in range(2):
            step(simulation, round(_DURATION * time / own.dt))
            seen.append(_seen(state, length))
            speeds = state.body_qd if is_maximal else state.joint_qd
            speeds.assign(-speeds.numpy())
            simulation.invalidate("bodies" if is_maximal else "joints")
    return {name: [[rows[None, is_whole & (owners == name)] for rows in part] for part in seen] for name in set(owners)}


def _seen(state: Any, length: float) -> tuple[np.ndarray, np.ndarray]:
    poses, speeds = (on_host(array).astype(float) for array in (state.body_q, state.body_qd))
    return poses / np.repeat([length, 1.0], (3, 4)), speeds
