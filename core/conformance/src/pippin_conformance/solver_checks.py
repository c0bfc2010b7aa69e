"""Checks of a solver: each claim of its declaration, tried in a simulation; what a user changes while it runs, which
acts in its world alone, or is refused with a cure; and its results against formulas.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, Simulation, SimulationError
from pippin.arrays import on_host, present

from . import scenes
from .arm_forms import differing_form
from .benches import BENCHES, DURATION, benches_of
from .mechanisms import met
from .observables import OBSERVABLES
from .observation import HALF, advance, begin_anew, differing, push, spoil, start, step
from .outcomes import NotApplicableError
from .relations import RELATIONS, matter_for
from .runs import Runs, falling
from .runtime_changes import RUNTIME_CHANGES, RuntimeChange, cell_of
from .scenes import GRAVITY, START, SWING_RATE
from .tree_relations import TREE_RELATIONS
from .trees import add_trees, trees_for
from .trials import measured_apart

_INPUTS: Mapping[str, float] = {"body_f": 30.0, "joint_f": 30.0, "joint_target_q": 3.0, "joint_target_qd": 500.0}
"""Inputs of a step with numbers that make all else in a drawn tree small."""


def check_isolation(runs: Runs) -> None:
    """A push on some worlds, and then their reset, changes no bit of the others, whichever of five worlds they are."""
    count, reason = 5, runs.subject.declaration.mixed_worlds
    if reason or runs.subject.world_count < 2:
        raise NotApplicableError(reason or "it is tried in one world")
    with runs.subject.build(count=1, world_count=count) as simulation:
        start(simulation)
        alone = advance(simulation, 2 * HALF)
        for first in range(count):
            touched = [first, (first + 1) % count]
            others = [world for world in range(count) if world not in touched]
            begin_anew(simulation)
            for _ in range(HALF):
                push(simulation, touched)
                step(simulation, 1)
            begin_anew(simulation, touched)
            odd = differing(alone.of(others), advance(simulation).of(others))
            if odd:
                raise runs.fault(
                    f"a push and a reset of worlds {touched[0]} and {touched[1]} changed {odd[0]} of others of {count}"
                    " worlds; read and write the rows of each world alone"
                )


def check_delay(runs: Runs) -> None:
    """Forces on bodies, efforts and targets of drives act in the step after they are set."""
    names = [name for name in ("drives", "hinges", "a free body") if name in trees_for(runs.subject.features or ())]
    if not names:
        raise NotApplicableError("it declares no joints that show it")
    scene = partial(add_trees, names[:1])
    with runs.subject.build(count=1, scene=scene, is_on_ground=False) as simulation:
        for name, value in [*_INPUTS.items()][: 4 if names[0] == "drives" else 2]:
            array = getattr(simulation.state if name == "body_f" else simulation.control, name)
            begin_anew(simulation)
            calm, pushed = (_gained(simulation, array, number) for number in (0.0, value))
            array.fill_(0.0)
            if not pushed > 3.0 * calm:
                raise runs.fault(
                    f"{name} was set to {value:g}, and in the next step velocities changed by {pushed:.2g} m/s, rad/s,"
                    f" as by {calm:.2g} in the step before; read it in each step, from the arrays of the call"
                )


def _gained(simulation: Simulation, array: Any, number: float) -> float:
    """Return the largest change of a velocity in a step with an input."""
    before = on_host(simulation.state.body_qd).copy()
    array.fill_(number)
    step(simulation, 1)
    return float(np.abs(on_host(simulation.state.body_qd) - before).max())


def check_divergence(runs: Runs) -> None:
    """A world whose velocities are not finite changes no bit of the others, and `raise_errors` names it. After a reset
    it starts over.
    """
    count, bad, reason = 3, 1, runs.subject.declaration.mixed_worlds
    if reason or runs.subject.world_count < 2:
        raise NotApplicableError(reason or "it is tried in one world")
    with runs.subject.build(count=1, world_count=count) as simulation:
        start(simulation)
        first, second = advance(simulation), advance(simulation)
        begin_anew(simulation)
        advance(simulation)
        spoil(simulation, bad)
        with warnings.catch_warnings(action="ignore"):  # a solver may say so itself, and a test may fail for it
            spoilt = advance(simulation)
        told = _told(simulation)
        begin_anew(simulation)
        healed = advance(simulation)
    others = [world for world in range(count) if world != bad]
    if odd := differing(second.of(others), spoilt.of(others)):
        raise runs.fault(
            f"a world whose velocities are not finite changed {odd[0]} of other worlds; compute each world alone, and"
            " let no sum, norm or step length run over all of them"
        )
    if f"world {bad}" not in told:
        raise runs.fault(
            f"velocities that are not finite in world {bad} are not told, but {told or 'nothing'}; leave what is not"
            " finite in the state, so that the host finds it, or raise a SimulationError"
        )
    if odd := differing(first, healed):
        raise runs.fault(
            f"after a reset, a world that was not finite does not start over in {odd[0]}; forget all that it carries in"
            " reset_worlds, or read the worlds in written_worlds anew"
        )


def _told(simulation: Simulation) -> str:
    try:
        simulation.raise_errors()
    except SimulationError as error:
        return str(error)
    return ""


def check_coordinates(runs: Runs) -> None:
    """The solver writes the coordinates that `coordinates` declares: unless maximal or mixed, the body poses agree
    with the joint coordinates.
    """
    claim = runs.subject.declaration.coordinates
    distance = runs.whole.misplacement
    if claim not in ("maximal", "mixed") and distance > 2e-5:  # rounding, at a few metres
        raise runs.fault(
            f"claims {claim} coordinates, but a body is {distance:.3g} m from where the joints put it; write body_q and"
            " body_qd, or declare coordinates = 'joint' or 'maximal'"
        )


def check_contacts(runs: Runs) -> None:
    """`detects_contacts` and `runs_pipeline` agree with the simulation. A solver that declares neither uses the
    contacts of the host.
    """
    declared, found = runs.subject.declaration, runs.contacts
    if found is None:
        raise NotApplicableError("nothing in its scene can meet")
    for name, value in found.items():
        claim = getattr(declared, name)
        if claim != value:
            raise runs.fault(
                f"{name} is {claim}, but its simulation says {value}; declare what initialize_contacts and build_solver"
                " do"
            )


def check_features(runs: Runs) -> None:
    """Every name in `supported_features` is a known feature of scenes."""
    subject = runs.subject
    if subject.features is None:
        raise NotApplicableError("it declares no supported_features")


def check_feature(runs: Runs, name: str) -> None:
    """Check one feature that the solver declares, on the benches of the feature, with its step and with half of it."""
    if name not in (runs.subject.features or ()):
        raise NotApplicableError("it does not declare it")
    for each, step_of in itertools.product(benches_of(name), runs.subject.steps):
        found = runs.tried("features")[each + step_of]
        if isinstance(found, Exception):
            raise runs.fault(
                f"declares {name}, but a scene with it fails: {found}; leave it out of supported_features"
            ) from found
        _refuse_motion(runs, name, each, found.number, step_of)
        least, most = BENCHES[each].bounds
        if least <= found.control <= most:
            raise runs.fault(
                f"declares {name}, but what makes the difference is not read: {BENCHES[each].expectation}:"
                f" {found.number:.3g}, and {found.control:.3g} where this has nothing to do; support it, or leave it"
                " out of supported_features"
            )


def _refuse_motion(runs: Runs, name: str, bench: str, found: float, step_of: str = "") -> None:
    least, most = BENCHES[bench].bounds
    if not least <= found <= most:
        raise runs.fault(
            f"declares {name}, but not so that{step_of} {BENCHES[bench].expectation}: {found:.3g}, expected {least:.3g}"
            f" to {most:.3g}; support it, or leave it out of supported_features"
        )


def check_pair(runs: Runs, name: str) -> None:
    """Check that shapes of each kind lie on one kind, as contacts of each pair have to carry them."""
    found = {pair: each for pair, each in runs.tried("pairs").items() if pair.endswith(f" on {name}")}
    if not found:
        raise NotApplicableError("it declares no rigid_contacts of bodies with free_joints")
    if faults := [f"{pair}: {each.fault}" for pair, each in found.items() if each.fault]:
        raise runs.fault(
            f"declares rigid_contacts, but {'; '.join(faults)}; compare the normal, its sign and the points of each"
            " pair of shapes, or refuse the pair by name at the build"
        )
    if refused := {pair: each.refusal for pair, each in found.items() if each.refusal}:
        rest = "" if len(refused) == len(found) else "; the others are right"
        raise NotApplicableError(f"it has no {', '.join(refused)}: {next(iter(refused.values()))}{rest}")


def check_forms(runs: Runs) -> None:
    """An arm moves alike whether it comes as URDF, MJCF, USD, objects of the file or calls of Newton."""
    if not {"rigid_bodies", "revolute_joints"} <= set(runs.subject.features or ()):
        raise NotApplicableError("it declares no rigid_bodies and revolute_joints")
    if odd := differing_form(runs.tried("forms")):
        raise runs.fault(
            f"moves an arm otherwise than the same arm made by calls of Newton: {odd}; read frames, axes and poses of"
            " the model alone, and nothing that only some importers write"
        )


def check_tree(runs: Runs, name: str) -> None:
    """Check the motion of a drawn tree of joints that the solver claims to move."""
    if name not in trees_for(runs.subject.features or ()):
        raise NotApplicableError("it does not declare its joints, or what they have")
    found = runs.tried("trees")[name]
    if isinstance(found, Exception):
        raise runs.fault(f"declares the joints of {name}, but a scene with them fails: {found}") from found
    if found.refusal:
        raise NotApplicableError(f"it refuses such a tree: {found.refusal}")
    if not found.share <= 1.0:
        raise runs.fault(
            f"does not move as the equations of motion say, however short the step: {found.text}; compare the frames,"
            " signs and units of joint_X_p, joint_X_c, joint_f, body_f and gravity, or leave what it cannot move out of"
            " supported_features"
        )


def check_relation(runs: Runs, name: str) -> None:
    """Check that copies of matter or of trees that the solver claims to move hold one relation to the first ones."""
    is_of_trees = name in TREE_RELATIONS
    if not is_of_trees and not matter_for(runs.subject.features or ()):
        raise NotApplicableError("it declares no matter that the kit has")
    fault = runs.tried("tree_relations" if is_of_trees else "relations").get(name)
    if fault is None:
        raise NotApplicableError("it declares no joints that show it")
    if fault and is_of_trees:
        raise runs.fault(
            f"a tree {TREE_RELATIONS[name]} has to move as before, but {fault}; look for numbers that have a unit, for"
            " what fixed joints and loops lose, and for what each step changes however short it is"
        )
    if fault:
        raise runs.fault(
            f"matter that is {RELATIONS[name].expectation} has to move as before, but {fault}; look for what depends on"
            " a place, a direction, an index or a world, or leave the feature out of supported_features"
        )


def check_feature_gravity(runs: Runs) -> None:
    """If the solver declares `gravity`: bodies, or else particles, fall with it. If it declares `"build"`, they fall as
    before where the host lets a change pass.
    """
    subject, level = runs.subject, (runs.subject.features or {}).get("gravity")
    if level is None:
        raise NotApplicableError("it does not declare gravity")
    with subject.build(count=1, scene=falling(subject), is_on_ground=False) as simulation:
        down = np.full(simulation.world_count, -scenes.GRAVITY)
        _refuse_other(_accelerations(simulation)[:, 2], down, "gravity pulls down in all worlds", "gravity", runs)
        if level == "build":
            simulation.services.model_changes.trust()
            if abs(_with_turned_gravity(simulation)[-1] - 0.5 * scenes.GRAVITY) < 0.05 * scenes.GRAVITY:
                raise runs.fault(
                    "declares gravity 'build', but follows a change of it while it runs; declare it 'live', so that"
                    " users may change it"
                )


def check_feature_heterogeneous_worlds(runs: Runs) -> None:
    """If the solver declares `heterogeneous_worlds`: bodies on different joints move as they should in two worlds."""
    features = runs.subject.features or ()
    if "heterogeneous_worlds" not in features:
        raise NotApplicableError("it does not declare heterogeneous_worlds")
    names = [name for name in ("free_joints", "revolute_joints", "fixed_joints") if name in features][:2]
    if len(names) < 2:
        raise NotApplicableError("it declares no two kinds of joints")
    for name, found in measured_apart(runs.subject, names).items():
        _refuse_motion(runs, "heterogeneous_worlds", name, found)


def check_feature_different_meshes(runs: Runs) -> None:
    """If the solver declares `different_meshes`: bodies of two worlds stand on the ground, each on its own hull."""
    features = runs.subject.features or ()
    if not {"different_meshes", "rigid_contacts", "free_joints"} <= set(features):
        raise NotApplicableError("it does not declare different_meshes, or has no contacts of free bodies")
    heights = (0.2, 0.1)
    both = [(partial(scenes.add_block, half=height), 1) for height in heights]
    try:
        simulation = runs.subject.build(count=1, scene=both)
    except ConfigError as error:
        raise NotApplicableError(f"it refuses hulls: {error}") from error
    with simulation:
        step(simulation, round(DURATION / runs.subject.dt))
        found = on_host(simulation.state.body_q)[:, 2].tolist()
    if not np.allclose(found, heights, rtol=0.0, atol=0.02):
        raise runs.fault(
            f"declares different_meshes, but bodies that stand on hulls of {heights} m are at {found} m after"
            f" {DURATION} s; read the mesh of each world, or leave it out of supported_features"
        )


def check_feature_body_variants(runs: Runs) -> None:
    """If the solver declares `body_variants`: a body rests as the variant of its world does, and as another one after
    it has changed, in that world alone.
    """
    features = runs.subject.features or ()
    if not {"body_variants", "rigid_contacts", "free_joints"} <= set(features):
        raise NotApplicableError("it does not declare body_variants, or has no contacts of free bodies")
    with runs.subject.build(count=3, scene=scenes.add_shifter) as simulation:
        model: Any = simulation.model
        for chosen in ([0, 1, 0], [0, 1, 1], [1, 1, 0]):
            flags = model.select_body_variants(wp.array(chosen, dtype=int, device=model.device))
            simulation.reset()
            simulation.notify_model_changed(flags)
            step(simulation, round(3.0 * DURATION / runs.subject.dt))  # a box falls by 0.1 m in 0.14 s
            found = on_host(simulation.state.body_q)[:, 2]
            expected = [scenes.SHIFTER_HEIGHTS[each] for each in chosen]
            if not np.allclose(found, expected, rtol=0.0, atol=0.02):
                raise runs.fault(
                    f"declares body_variants, but bodies with the variants {chosen}, which rest at {expected} m, are at"
                    f" {found.tolist()} m after {3.0 * DURATION:g} s; read shapes and masses of the model in each step"
                    " or at SHAPE_TYPE_AND_SOURCE, or leave it out of supported_features"
                )


def check_feature_particle_worlds(runs: Runs) -> None:
    """If the solver declares `particle_worlds`: the particles of a world move as they do alone although those of
    another world are among them, to a thousandth of their radius.
    """
    if "particle_worlds" not in (runs.subject.features or ()):
        raise NotApplicableError("it does not declare particle_worlds")
    if runs.misled > 1e-3 * scenes.GRAIN_RADIUS:
        raise runs.fault(
            f"declares particle_worlds, but particles of another world moved those of a world by {runs.misled:.3g} m;"
            " search for neighbours by world, or leave it out of supported_features"
        )


def check_feature_gradients(runs: Runs) -> None:
    """If the solver declares `gradients`: the place of a body in flight, or the mean of all particles, depends on the
    velocity at the start by the duration.
    """
    subject = runs.subject
    if "gradients" not in (subject.features or ()):
        raise NotApplicableError("it does not declare gradients")
    if not runs.has_gradients:
        raise NotApplicableError("the scene that it needs beside cannot be sent to another process")
    if isinstance(found := runs.slope, str):
        raise runs.fault(f"declares gradients, but a rollout fails: {found}; see 'Support gradients'")
    if not abs(found - 1.0) <= 0.05:
        raise runs.fault(
            f"declares gradients, but the way of a flight depends on its velocity by {found:.3g} times the duration;"
            " record every launch, see 'Support gradients', or leave it out of supported_features"
        )


def check_observables(runs: Runs) -> None:
    """Every observable in `supported_observables` is offered by the built solver, and written in each step.

    An observable that is not exact may be left out: the host measures `body_qdd`, and refuses others.
    """
    declared = runs.subject.declaration.supported_observables or frozenset()
    with runs.subject.build(observables=declared, count=1, capture="off") as simulation:
        offered = frozenset(map(str, simulation.solver.supported_observables))
        if declared - offered:
            raise runs.fault(
                f"declares the observables {sorted(declared)}, but the solver it builds offers {sorted(offered)};"
                " declare what it offers, or less"
            )
        advance(simulation, 1)
        arrays = {kind: getattr(simulation.observables, kind) for kind in sorted(declared)}
        arrays = {
            kind: array for kind, array in arrays.items() if array is not None and array.numpy().dtype.kind == "f"
        }
        for array in arrays.values():
            array.fill_(float("nan"))
        advance(simulation, 1)
        contacts: Any = simulation.contacts
        used = {} if contacts is None else {"contact_f": int(contacts.rigid_contact_count.numpy()[0])}
        unwritten = [kind for kind, rows in arrays.items() if not np.isfinite(rows.numpy()[: used.get(kind)]).all()]
    if unwritten:
        raise runs.fault(
            f"claims the observables {', '.join(unwritten)}, but does not write them; write every row in each step if"
            " they are requested"
        )


def check_observable(runs: Runs, name: str) -> None:
    """Check the values of an observable that the solver declares, where one of the kit's scenes shows them."""
    found = runs.tried("observables").get(name)
    if found is None:
        raise NotApplicableError(f"it does not declare {name.split()[0]}, or no bodies and joints that show it")
    if found:
        what = f"declares {name.split()[0]}, but not so that {OBSERVABLES[name]}: {found}"
        raise runs.fault(f"{what}; look for a sign, a unit, a frame, a world or a step, or declare less")


def check_model_changes(runs: Runs) -> None:
    """A running simulation accepts the changes of every feature that is `"live"`. A change of gravity, of masses or of
    friction is measured, and must affect the changed world alone.
    """
    subject = runs.subject
    declared = subject.declaration.live_changes
    flags = set(newton.ModelFlags.__members__) - {"ALL"} if declared is None else set(declared)
    with subject.build(count=1, scene=falling(subject), is_on_ground=False) as simulation:
        step(simulation, 2)
        for flag in sorted(flags):
            simulation.notify_model_changed(newton.ModelFlags[flag])
        step(simulation, 2)
        if "MODEL_PROPERTIES" in flags:
            expected = np.zeros(simulation.world_count)
            expected[-1] = 0.5 * scenes.GRAVITY
            what = "MODEL_PROPERTIES: gravity of the last world was changed"
            _refuse_other(_with_turned_gravity(simulation), expected, what, "gravity", runs)
        if "BODY_INERTIAL_PROPERTIES" in flags and simulation.model.body_count:
            _try_masses(simulation, runs)
        simulation.raise_errors()
    if "SHAPE_PROPERTIES" in flags and {"rigid_contacts", "free_joints"} <= {*(subject.features or ())}:
        _try_friction(runs)


def _with_turned_gravity(simulation: Simulation) -> np.ndarray:
    """Let gravity of the last world pull along y too, and return the accelerations along y [m/s²]."""
    gravity, changed = present(simulation.model.gravity), simulation.world_count - 1
    vectors = gravity.numpy().copy()
    vectors[changed] += [0.0, 0.5 * scenes.GRAVITY, 0.0]
    gravity.assign(vectors)
    simulation.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
    return _accelerations(simulation)[:, 1]


def _try_masses(simulation: Simulation, runs: Runs) -> None:
    model = simulation.model
    balls = np.array([index for index, label in enumerate(model.body_label) if label == "ball"])
    for name, factor in (("body_mass", 2.0), ("body_inertia", 2.0), ("body_inv_mass", 0.5), ("body_inv_inertia", 0.5)):
        values = getattr(model, name).numpy().copy()
        values[balls[-1]] *= factor
        getattr(model, name).assign(values)
    simulation.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)
    force = 10.0
    expected = np.full(simulation.world_count, force / scenes.BALL_MASS)
    expected[-1] /= 2.0
    found = _accelerations(simulation, force)[:, 0]
    _refuse_other(found, expected, "BODY_INERTIAL_PROPERTIES: mass of the last world was changed", "rigid_bodies", runs)


def _try_friction(runs: Runs) -> None:
    """Take most of the friction from a box that slides with 1 m/s in the last of five worlds."""
    add = met(is_box=True, speed=(1.0, 0.0), mu=0.5)
    with runs.subject.build(count=1, scene=lambda each: add(each, "box", 0.0), world_count=5) as simulation:
        step(simulation, 2)
        frictions = present(simulation.model.shape_material_mu)
        values, worlds = frictions.numpy().copy(), on_host(simulation.model.shape_world)
        values[worlds == simulation.world_count - 1] = 0.05
        frictions.assign(values)
        simulation.notify_model_changed(newton.ModelFlags.SHAPE_PROPERTIES)
        step(simulation, round(DURATION / runs.subject.dt) - 2)
        speeds = np.linalg.norm(on_host(simulation.state.body_qd)[:, :3], axis=1)
    others = speeds[:-1]
    if not (0.4 < others.min() <= others.max() < min(0.75, others.min() + 0.02) and 0.9 < speeds[-1] < 1.0):
        raise runs.fault(
            f"SHAPE_PROPERTIES: friction of the last world was changed from 0.5 to 0.05, and boxes of 1 m/s have"
            f" {np.round(speeds, 2).tolist()} m/s after {DURATION} s, expected one of 0.4 to 0.75, and 0.9 to 1; take"
            " it over in notify_model_changed, or declare rigid_contacts 'build' in supported_features"
        )


def _accelerations(simulation: Simulation, force: float = 0.0, count: int = 5) -> np.ndarray:
    """Return the mean acceleration of the ball or the particles of each world over a few steps [m/s²].

    Shape [world_count, 3].
    """
    before = _velocities(simulation)
    for _ in range(count):
        if force:
            forces = np.zeros((simulation.model.body_count, 6), dtype=np.float32)
            forces[:, 0] = force
            present(simulation.state.body_f).assign(forces)
        step(simulation, 1)
    return (_velocities(simulation) - before) / (count * simulation.control_dt)


def _velocities(simulation: Simulation) -> np.ndarray:
    """Return the velocity of the ball, or the mean of all particles, in each world [m/s], shape [world_count, 3]."""
    model, state = simulation.model, simulation.state
    if model.particle_count:
        return on_host(state.particle_qd).reshape(simulation.world_count, -1, 3).mean(axis=1)
    balls = [index for index, label in enumerate(model.body_label) if label == "ball"]
    return on_host(state.body_qd)[balls, :3].copy()


def _refuse_other(found: np.ndarray, expected: np.ndarray, what: str, feature: str, runs: Runs) -> None:
    if not np.allclose(found, expected, rtol=0.05, atol=0.1):
        raise runs.fault(
            f"{what}, and the worlds accelerate by {np.round(found, 2).tolist()} m/s², expected"
            f" {np.round(expected, 2).tolist()}; take the change over in notify_model_changed, or declare {feature}"
            " 'build' in supported_features"
        )


def check_change(runs: Runs, name: str) -> None:
    """Check one change: as the solver's declaration says, it acts in its world alone, or is refused.

    One that is refused because the solver reads it at the build only has no effect if the host lets it pass.
    """
    change, subject = RUNTIME_CHANGES[name], runs.subject
    cell = cell_of(change, subject.declaration)
    if cell.lacks in change.of_body:
        raise NotApplicableError(f"it declares no {cell.lacks}, and a scene with them is refused")
    levels = subject.declaration.supported_features or {}
    for withheld in sorted(each for each in change.prepares if levels.get(each) == "build"):
        raise NotApplicableError(f"its bench sets {withheld} first, which it reads at the build only")
    answer = runs.tried("answers")[name]
    if not cell.is_honoured:
        reason = f"its declaration has no {'live ' * cell.is_withheld}{cell.lacks}"
        _refuse_silence(runs, change, answer.refusal, reason, cell.lacks)
        # The host places what stands on a fixed root, from the joints that such a solver writes.
        if cell.is_withheld and (name, subject.declaration.coordinates) != ("set_root_transforms", "joint"):
            _refuse_modesty(runs, change, cell.lacks)
        return
    if answer.motions is None:
        raise runs.fault(f"declares what {name} needs, but refuses it: {answer.refusal}; honour it")
    for fault in _strays(change, answer.motions)[:1]:
        raise runs.fault(
            f"{change.label} in the last of {len(answer.motions)} worlds, but not so that {change.expectation}:"
            f" {fault}; take it over in its world alone, declare what it needs 'build' in supported_features, or"
            " declare features_fixed_at_build"
        )
    if cell.is_fixed:
        reason = f"{change.feature} are fixed at its build"
        _refuse_silence(runs, change, runs.tried("refusals")[name], reason, "scene.settable_joints")


def _refuse_silence(runs: Runs, change: RuntimeChange, error: str, reason: str, what: str) -> None:
    missing = [part for part in (change.name, change.attribute, repr(runs.subject.name), what) if part not in error]
    if missing:
        fault = f"its error leaves out {', '.join(missing)}: {error}" if error else "it is accepted"
        raise runs.fault(f"{change.label} has to be refused, since {reason}, but {fault}; declare what it honours")


def _refuse_modesty(runs: Runs, change: RuntimeChange, what: str) -> None:
    motions = runs.tried("trusted")[change.label].motions
    if motions is not None and not any(_strays(change, motions)):
        raise runs.fault(
            f"its declaration has no live {what}, but {change.expectation} where the host lets {change.label} pass;"
            f" declare {change.feature or 'rigid_bodies'} 'live', so that users may change it"
        )


def _strays(change: RuntimeChange, motions: np.ndarray) -> list[str]:
    """Return what moves in another way than it should, of the last world, which was changed, and of the others."""
    bounds = [change.idle] * (len(motions) - 1) + [change.acting]
    return [
        f"{motion:.3g} in world {world}, expected {least:.3g} to {most:.3g}"
        for world, (motion, (least, most)) in enumerate(zip(motions, bounds, strict=True))
        if not least <= motion <= most
    ]


def check_free_fall(runs: Runs) -> None:
    """A free body or particle falls for 0.1 s with v = g t and z = g t² / 2. The speed is within 2 %; the depth may
    also have an error of first order in the substep.
    """
    before, after = runs.fall[:2]
    speed = (before.speed - after.speed) / (GRAVITY * after.time)
    depth = (before.height - after.height + before.speed * after.time) / (GRAVITY * after.time**2 / 2)
    errors = {"speed": (abs(speed - 1), 0.02), "depth": (abs(depth - 1), 0.02 + runs.subject.dt / after.time)}
    _refuse_errors(runs, f"after a free fall of {after.time:g} s", errors, "accelerate what is free by model.gravity")


def check_pendulum(runs: Runs) -> None:
    """A pendulum hangs straight down after a quarter of T = 2π √((I + m l²) / (m g l)), with the velocity of the
    formula.

    The error of the angle is at most 2 % of the initial angle, plus a part of first order in the substep. The error of
    the velocity is at most 5 % of the largest velocity.
    """
    end = runs.fall[-1]
    if end.angle is None or end.rate is None:
        raise NotApplicableError("it declares no revolute_joints")
    phase = SWING_RATE * end.time
    angle, rate = end.angle / START - np.cos(phase), end.rate / (START * SWING_RATE) + np.sin(phase)
    errors = {"angle": (abs(angle), 0.02 + SWING_RATE * runs.subject.dt), "angular velocity": (abs(rate), 0.05)}
    cure = "check the inertia about the hinge and what damps it, or take a smaller dt"
    _refuse_errors(runs, "a quarter of a swing after the start of a pendulum", errors, cure)


def _refuse_errors(runs: Runs, when: str, errors: Mapping[str, tuple[float, float]], cure: str) -> None:
    for what, (error, most) in errors.items():
        if not error <= most:
            raise runs.fault(f"{when}, the {what} is {error:.1%} off, and may be {most:.1%}; {cure}")
