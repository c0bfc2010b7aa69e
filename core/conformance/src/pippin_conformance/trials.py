"""Trials of a solver: its numbers on benches, each beside its control in one simulation; its answers to all runtime
changes, each on its own body, and in the last of three worlds alone; and a rollout with gradients.

They take long, and run in processes beside the checks of the step. The rollout has one of its own: a process that has
built a simulation without gradients has no backward kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import PippinError, PluginError, Simulation
from pippin.arrays import on_host, present
from pippin.workers import WorkerProcess

from . import scenes
from .arm_forms import motions_of_forms
from .benches import BENCHES, DURATION, Rows
from .kinds import merged
from .observables import errors_of_observables
from .observation import model_and_state, step
from .pairs import results_of_pairs
from .plugin_under_test import HALVED, PluginUnderTest
from .relations import errors_of_relations
from .runtime_changes import RUNTIME_CHANGES, RuntimeChange, cell_of
from .scenes import equal_moments
from .tree_relations import errors_of_tree_relations
from .trees import errors_of_trees

WORLDS = 3
"""Worlds of a trial; the change is made in the last one."""

_MASS, _INERTIA, _HEIGHT = 1.0, 0.01, 1.0

_COLUMNS = {"x": 0, "y": 1, "z": 2, "x speed": 3, "y speed": 4, "z speed": 5, "turn speed": 8}

_CROWDS = "rigid_contacts of "
"""Beginning of the names of benches with eight bodies: steps of dense solvers take the square or cube of them."""

_STEPS = 5
"""Control steps of the rollout."""

TIMEOUT = 600.0
"""Longest wait for the process, which compiles kernels of both directions [s]."""


@attrs.frozen(kw_only=True, eq=False)
class TrialResponse:
    """Outcome of a runtime change."""

    refusal: str = ""
    """Text of the error if the call was refused."""

    motions: np.ndarray | None = None
    """Motion of the body in each world if the call was accepted."""


def answers(subject: PluginUnderTest) -> Mapping[str, TrialResponse]:
    """Return the answer to each runtime change for which the solver supports the body.

    Every joint is prepared for what the solver cannot add to it later.
    """
    possible = _possible_changes(subject)
    honoured = {name for name, change in possible.items() if cell_of(change, subject.declaration).is_honoured}
    return _answers(subject, possible, honoured)


def trusted(subject: PluginUnderTest) -> Mapping[str, TrialResponse]:
    """Return the answers to the changes that the solver declares that it does not follow, where the host lets them
    pass: none should act.
    """
    possible = _possible_changes(subject)
    withheld = {name: change for name, change in possible.items() if cell_of(change, subject.declaration).is_withheld}
    return _answers(subject, withheld, withheld.keys(), trust=True)


def _answers(
    subject: PluginUnderTest, changes: Mapping[str, RuntimeChange], prepared: Collection[str], *, trust: bool = False
) -> Mapping[str, TrialResponse]:
    """Return the answer to each change of a simulation that has run; those prepared are set up by their `first`."""
    if not changes:
        return {}
    with _build(subject, changes, settable_joints=True) as simulation:
        if trust:
            simulation.services.support.trust()
            simulation.services.model_changes.trust()
        step(simulation, 2)  # what a solver copies in its first step is old by then
        before = _motions(simulation)
        refusals = {
            name: _try(simulation, change, change.first if name in prepared else {}) for name, change in changes.items()
        }
        for _ in range(round(DURATION / subject.dt)):
            _push(simulation)
            step(simulation, 1)
        after = _motions(simulation)
    motions = {name: (after[name] - before[name])[:, _COLUMNS[change.motion]] for name, change in changes.items()}
    return {
        name: TrialResponse(refusal=text) if text else TrialResponse(motions=motions[name])
        for name, text in refusals.items()
    }


def refusals(subject: PluginUnderTest) -> Mapping[str, str]:
    """Return the error of each change that the solver, as it declares, cannot add to a joint; empty for no error."""
    declared = subject.declaration
    fixed = {name: change for name, change in _possible_changes(subject).items() if cell_of(change, declared).is_fixed}
    if not fixed:
        return {}
    with _build(subject, fixed, settable_joints=False) as simulation:
        return {name: _try(simulation, change, {}) for name, change in fixed.items()}


def _possible_changes(subject: PluginUnderTest) -> dict[str, RuntimeChange]:
    features = subject.features
    return {
        name: change
        for name, change in RUNTIME_CHANGES.items()
        if (features is None or change.of_body <= features.keys()) and subject.asks("change", name)
    }


def _build(subject: PluginUnderTest, changes: Mapping[str, RuntimeChange], *, settable_joints: bool) -> Simulation:
    scene = functools.partial(_add, changes)
    return subject.build(count=1, scene=scene, world_count=WORLDS, is_on_ground=False, settable_joints=settable_joints)


def _add(changes: Mapping[str, RuntimeChange], builder: newton.ModelBuilder) -> None:
    for index, (name, change) in enumerate(changes.items()):
        place = wp.transform(wp.vec3(0.0, float(index), _HEIGHT), wp.quat_identity())
        body = builder.add_link(label=name, mass=_MASS, inertia=equal_moments(_INERTIA), xform=place)
        if change.body == "ball":
            joint = builder.add_joint_free(body)
        elif change.body == "fixed":
            joint = builder.add_joint_fixed(-1, body, parent_xform=place)
        elif change.body == "wheel":
            joint = builder.add_joint_revolute(-1, body, parent_xform=place, axis=(0.0, 0.0, 1.0), armature=0.0)
        else:
            joint = builder.add_joint_prismatic(-1, body, parent_xform=place, axis=(1.0, 0.0, 0.0), armature=0.0)
            builder.joint_q[-1], builder.joint_qd[-1] = change.start
        builder.add_articulation([joint], label=name)


def _try(simulation: Simulation, change: RuntimeChange, first: Mapping[str, float]) -> str:
    """Make a change in the last world, and return the text of the error; empty if the call was accepted."""
    views = simulation.view
    is_of_bodies = not hasattr(views.articulations(change.label), change.name)
    view: Any = views.rigid_bodies(change.label) if is_of_bodies else views.articulations(change.label)
    try:
        for name, value in first.items():
            getattr(view, name)(np.full((WORLDS, 1), value, dtype=np.float32))
        getattr(view, change.name)(**_arguments(change, view, is_of_bodies))
    except PippinError as error:
        return str(error)
    return ""


def _arguments(change: RuntimeChange, view: Any, is_of_bodies: bool) -> dict[str, Any]:
    dtype: Any = {bool: np.bool_, int: np.uint8}.get(type(change.value), np.float32)
    row = np.asarray(change.value, dtype=dtype).reshape(-1)
    is_alone = is_of_bodies or "root" in change.name  # one row of numbers, without an axis of links or DOFs
    shape = (WORLDS, *(() if is_alone else (1,)), *(row.shape if row.size > 1 else ()))
    data = "forces" if change.name == "apply_forces" else "data"
    rows = np.broadcast_to(row if row.size > 1 else row[0], shape).copy()
    flags = sum(newton.ModelFlags[flag] for flag in change.flags)
    attribute = {"name": change.attribute, "flags": flags} if change.attribute else {}
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
    """Return positions and velocities of the body of each change [m, m/s, rad/s], shape [WORLDS, 9]."""
    model, state = model_and_state(simulation)
    rows = np.hstack([state.body_q.numpy()[:, :3], state.body_qd.numpy()]).reshape(WORLDS, -1, 9)
    return {label: rows[:, index].copy() for index, label in enumerate(model.body_label[: rows.shape[1]])}


@attrs.frozen
class Finding:
    """Numbers of a solver on a bench."""

    number: float
    """The measured number of the mechanism."""

    control: float
    """That of its control."""


def measured_features(subject: PluginUnderTest) -> dict[str, Finding | Exception]:
    """Return what a solver gives on each bench of a feature that it declares, with two steps, or what was raised."""
    features = [name for name in subject.features or () if subject.asks("feature", name)]
    names = [name for name in BENCHES if name.partition(" ")[0] in features]
    finer = measured(attrs.evolve(subject, dt=subject.dt / 2), names) if HALVED in subject.steps else {}
    return measured(subject, names) | {name + HALVED: found for name, found in finer.items()}


def measured(subject: PluginUnderTest, names: Sequence[str]) -> dict[str, Finding | Exception]:
    """Return what a solver gives on the benches, or the exception raised.

    Benches with the same keys of `[collision]` stand side by side in one simulation, with their controls, but three
    of those with many bodies at most. If this fails, they are split into two simulations, and so on.
    """
    alike = [[name for name in names if BENCHES[name].collision == each] for each in collisions_of(names)]
    crowds = [[name for name in group if name.startswith(_CROWDS)] for group in alike]
    groups = [[name for name in group if not name.startswith(_CROWDS)] for group in alike]
    groups += [crowd[first : first + 3] for crowd in crowds for first in range(0, len(crowd), 3)]
    return {name: found for group in filter(None, groups) for name, found in _measured_beside(subject, group).items()}


def collisions_of(names: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the distinct keys of `[collision]` of some benches: each needs a simulation of its own."""
    found: list[Mapping[str, Any]] = []
    for name in names:
        if BENCHES[name].collision not in found:
            found.append(BENCHES[name].collision)
    return found


def _measured_beside(subject: PluginUnderTest, names: Sequence[str]) -> dict[str, Finding | Exception]:
    particles: dict[str, slice] = {}

    def scene(builder: newton.ModelBuilder) -> None:
        adders = {name: BENCHES[name].add for name in names} | {_control(name): BENCHES[name].control for name in names}
        for index, (label, add) in enumerate(adders.items()):
            first = builder.particle_count
            add(builder, label, 1.0 * (index + 1))
            particles[label] = slice(first, builder.particle_count)

    tables = merged(subject.tables, {"collision": BENCHES[names[0]].collision})
    try:
        with attrs.evolve(subject, tables=tables).build(count=1, scene=scene, world_count=1) as simulation:
            before = _rows(simulation, particles)
            step(simulation, round(DURATION / subject.dt))
            simulation.raise_errors()  # of a buffer that is too small for so many contacts
            after = _rows(simulation, particles)
    except Exception as error:  # a plugin may raise anything
        if len(names) == 1:
            return {names[0]: error}
        middle = len(names) // 2
        return _measured_beside(subject, names[:middle]) | _measured_beside(subject, names[middle:])
    return {
        name: Finding(*(BENCHES[name].measure(before[label], after[label]) for label in (name, _control(name))))
        for name in names
    }


def _control(name: str) -> str:
    return f"{name} without"


def measured_apart(subject: PluginUnderTest, names: Sequence[str]) -> dict[str, float]:
    """Return the number that a solver gives on each bench of bodies, each in a world of its own."""
    scenes = [(lambda builder, name=name: BENCHES[name].add(builder, name, 0.0), 1) for name in names]
    particles = dict.fromkeys(names, slice(0))
    with subject.build(count=1, scene=scenes) as simulation:
        before = _rows(simulation, particles)
        step(simulation, round(DURATION / subject.dt))
        after = _rows(simulation, particles)
    return {name: BENCHES[name].measure(before[name], after[name]) for name in names}


def _rows(simulation: Simulation, particles: Mapping[str, slice]) -> dict[str, Rows]:
    model, state = model_and_state(simulation)
    owners = np.array([label.partition("/")[0] for label in model.body_label])
    poses, velocities = _on_host(state.body_q, 7), _on_host(state.body_qd, 6)
    places, speeds = _on_host(state.particle_q, 3), _on_host(state.particle_qd, 3)
    return {
        name: (
            np.vstack([poses[owners == name], np.pad(places[own], ((0, 0), (0, 4)))]),
            np.vstack([velocities[owners == name], np.pad(speeds[own], ((0, 0), (0, 3)))]),
        )
        for name, own in particles.items()
    }


def _on_host(array: Any, width: int) -> np.ndarray:
    return np.zeros((0, width)) if array is None else array.numpy()


TRIALS = {
    "features": measured_features,
    "trees": errors_of_trees,
    "forms": motions_of_forms,
    "relations": errors_of_relations,
    "tree_relations": errors_of_tree_relations,
    "observables": errors_of_observables,
    "pairs": results_of_pairs,
    "answers": answers,
    "refusals": refusals,
    "trusted": trusted,
}
"""What the processes beside do: each function says what its results are."""

_SHARES = ("features", "trees forms relations tree_relations", "pairs observables answers refusals trusted")
"""Trials of one process each: on MuJoCo, they take 16, 12 and 11 s of CPU."""


def begin_trials(subject: PluginUnderTest) -> dict[str, WorkerProcess]:
    """Start the trials of a solver in processes beside; each sends its trials, one after the other, by name with the
    results, or an error in place of each.

    Returns:
        The process of each trial.
    """
    processes = {share: _begun(subject, _results, share.split(), preload=()) for share in _SHARES}
    return {trial: process for share, process in processes.items() for trial in share.split()}


def begin_rollout(subject: PluginUnderTest) -> WorkerProcess:
    """Start a rollout in a process of its own, which sends its `Runs.slope`."""
    tables = merged(subject.tables, {"simulation": {"requires_grad": True}})
    return _begun(attrs.evolve(subject, tables=tables), _slopes, requires_grad=True)


def _begun(
    subject: PluginUnderTest, find: Callable[..., Iterator[Any]], *arguments: Any, **options: Any
) -> WorkerProcess:
    settings = {"config": dict(subject.config), "tables": dict(subject.tables), "dt": subject.dt}
    return WorkerProcess(str(subject), _send, find, arguments, subject.name, settings, **options)


def _send(
    connection: Connection,
    find: Callable[..., Iterator[Any]],
    arguments: tuple[Any, ...],
    name: str,
    settings: dict[str, Any],
) -> None:
    for message in find(PluginUnderTest(kind="solver", name=name, **settings), *arguments):
        connection.send(message)


def _results(subject: PluginUnderTest, trials: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for trial in trials:
        yield trial, _tried(TRIALS[trial], subject)


def _tried(run: Callable[[PluginUnderTest], Any], subject: PluginUnderTest) -> Any:
    try:
        results = run(subject)
    except Exception as error:  # a plugin may raise anything
        return _plain(error)
    return {name: _plain(found) if isinstance(found, Exception) else found for name, found in results.items()}


def _plain(error: Exception) -> PluginError:
    return PluginError(str(error) or type(error).__name__)


def _slopes(subject: PluginUnderTest) -> Iterator[float | str]:
    """Yield the derivative of the way by the velocity, in units of the duration; or the error, as text."""
    try:
        yield _share(subject)
    except Exception as error:  # a plugin may raise anything
        yield f"{type(error).__name__}: {error}"


def _share(subject: PluginUnderTest) -> float:
    has_bodies = "rigid_bodies" in (subject.features or ())
    scene = functools.partial(scenes.add_ball, height=5.0, is_solid=False) if has_bodies else subject.scene()
    with subject.build(count=1, scene=scene, is_on_ground=False, world_count=1) as simulation, wp.Tape() as tape:
        states = simulation.rollout(_STEPS)
        first, last = states[0], states[-1]
        places = present(last.body_q if has_bodies else last.particle_q)
        speeds = (first.body_qd, first.joint_qd) if has_bodies else (first.particle_qd,)
        weights = np.zeros((len(places), 7 if has_bodies else 3), dtype=np.float32)
        weights[:, 0] = 1.0 / len(places)
        tape.backward(grads={places: wp.array(weights, dtype=places.dtype, device=places.device)})
        slopes = [on_host(present(each).grad).reshape(-1, 3)[:: 2 if has_bodies else 1, 0].sum() for each in speeds]
        return float(sum(slopes)) / (_STEPS * simulation.control_dt)
