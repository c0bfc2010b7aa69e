"""Changes of the model at run time: each takes effect in its world alone, by its formula, or is refused by name."""

import functools
import tomllib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.catalog.entries import Catalog
from pippin.support.declaration import Declaration
from pippin.support.features import live_changes

ROWS = tomllib.loads((Path(__file__).parents[1] / "physics" / "checks.toml").read_text(encoding="utf-8"))
PLUGINS = {
    name: Catalog.installed().find("solver", name).load()
    for name in Catalog.installed().names_without_settings("solver")
}
RIGID = [name for name, plugin in PLUGINS.items() if "rigid_bodies" in plugin.supported_features]
CHANGES_OF = {name: Declaration.of(plugin, name).live_changes for name, plugin in PLUGINS.items()}
FLAGS = [flag.name for flag in newton.ModelFlags if flag != newton.ModelFlags.ALL]

WORLDS, CHANGED, TARGET = 3, 1, 1.0
X, Y, Z = 0, 1, 2
BODIES = ("puck", "ball", "slider", "wheel", "sprung", "leader", "follower")
"""The bodies of a world; each hangs from one joint, added in the same order."""


def bench(register):
    """Return a world with one body for each kind of change, which do not touch each other."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    register(builder)
    shape = newton.ModelBuilder.ShapeConfig(density=2500.0, mu=0.2, ke=2500.0, kd=100.0, kf=1000.0)
    under = wp.transform(wp.vec3(0.0, -3.0, -0.1), wp.quat_identity())
    builder.add_shape_box(-1, xform=under, hx=2.0, hy=0.5, hz=0.1, cfg=shape)  # friction is mixed: both are changed
    inertia = wp.diag(wp.vec3(0.1))

    def add(label, y, joint, speed=0.0, mass=1.0, **options):
        body = builder.add_link(label=label, mass=mass, inertia=inertia)
        place = wp.transform(wp.vec3(0.0, y, 1.0), wp.quat_identity())
        joint = joint(-1, body, parent_xform=place, **options)
        builder.joint_qd[-1] = speed
        return joint

    def free(label, y, z, mass=0.0):
        pose = wp.transform(wp.vec3(0.0, y, z), wp.quat_identity())
        body = builder.add_link(label=label, xform=pose, mass=mass, inertia=inertia if mass else None)
        builder.add_articulation([builder.add_joint_free(body)], label=label)
        return body

    builder.add_shape_box(free("puck", -3.0, 0.02), hx=0.1, hy=0.1, hz=0.02, cfg=shape)
    builder.joint_qd[0] = 2.0
    free("ball", 0.0, 0.0, mass=2.0)
    sliding, turning = builder.add_joint_prismatic, builder.add_joint_revolute
    drive = {"speed": 1.0, "target_q": TARGET, "target_ke": 5.0, "target_kd": 0.5, "armature": 0.2}
    joints = [add("slider", 5.0, sliding, axis=(1.0, 0.0, 0.0), **drive)]
    drive |= {"target_ke": 0.5, "target_kd": 0.05, "armature": 0.05}
    joints.append(add("wheel", 7.0, turning, axis=(0.0, 0.0, 1.0), **drive))
    joints.append(add("sprung", 9.0, sliding, axis=(1.0, 0.0, 0.0), stiffness=5.0, rest_q=1.0))
    for joint in joints:
        builder.add_articulation([joint])
    pair = [add(label, y, sliding, mass=mass) for label, y, mass in (("leader", 11.0, 100.0), ("follower", 13.0, 1.0))]
    builder.add_articulation(pair)
    builder.set_joint_mimic(pair[1], pair[0])
    builder.joint_q[-2:] = [0.5, 0.5]
    return builder


def rows(model, name, world, body):
    """Return the rows of an array of the model that are a body's: of its joint, its DOF, its world, or all shapes."""
    index = world * len(BODIES) + BODIES.index(body)
    if name == "gravity":
        return world
    if name.startswith("shape_"):
        return slice(2 * world, 2 * world + 2)
    if name == "joint_rest_q":
        return int(model.joint_q_start.numpy()[index])
    if name.startswith("joint_") and name not in ("joint_X_p", "joint_mimic_coeffs"):
        return int(model.joint_qd_start.numpy()[index])
    return index


def slides(of):
    return -9.81 * of.shape_material_mu[0]


def falls(axis):
    return lambda of: 0.0 if of.body_flags == newton.BodyFlags.KINEMATIC else of.gravity[axis]


def is_driven(of, inertia):
    """A drive pulls the joint to its target, against the body's own inertia and the armature."""
    effort = of.joint_target_ke * (TARGET - of.position) - of.joint_target_kd * of.velocity
    return effort / (inertia + of.joint_armature)


def slider(of):
    return is_driven(of, of.body_mass)


def wheel(of):
    return is_driven(of, of.body_inertia[Z, Z])


def springs(of):
    return 5.0 * (of.joint_rest_q - of.position) / of.body_mass


def doubled(values):
    return 2.0 * values


def halved(values):
    return 0.5 * values


def raised_sideways(gravity):
    return np.add(gravity, [0.0, 1.0, 0.0])


def moved_back(pose):
    return np.subtract(pose, [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def held(flags):
    return int(newton.BodyFlags.KINEMATIC)


HEAVIER = {"body_mass": doubled, "body_inertia": doubled, "body_inv_mass": halved, "body_inv_inertia": halved}


@attrs.frozen
class Change:
    """What is written in one world, and the law by which a body accelerates before and after."""

    flag: str
    body: str
    axis: int
    """Component of the body's velocity [m/s, m/s, m/s, rad/s, rad/s, rad/s]."""

    law: Callable[[Any], float]
    write: Mapping[str, Callable[[Any], Any]]
    """New values of arrays of the model, from the old ones."""

    duration: float = 0.01
    """Time over which the acceleration is measured [s]."""

    tolerance: float = 0.02
    """Relative: positions and velocities are those in the middle of a few steps."""


CHANGES = {
    "gravity": Change("MODEL_PROPERTIES", "ball", Y, falls(Y), {"gravity": raised_sideways}),
    "mass": Change("BODY_INERTIAL_PROPERTIES", "slider", X, slider, HEAVIER),
    "inertia": Change("BODY_INERTIAL_PROPERTIES", "wheel", 3 + Z, wheel, HEAVIER),
    "stiffness": Change("JOINT_DOF_FORCE_PROPERTIES", "slider", X, slider, {"joint_target_ke": doubled}),
    "damping": Change("JOINT_DOF_PROPERTIES", "wheel", 3 + Z, wheel, {"joint_target_kd": doubled}),
    "armature": Change("JOINT_DOF_INERTIAL_PROPERTIES", "slider", X, slider, {"joint_armature": doubled}),
    "rest": Change("JOINT_REFERENCE_POSE_PROPERTIES", "sprung", X, springs, {"joint_rest_q": doubled}),
    "frame": Change("JOINT_PROPERTIES", "slider", X, slider, {"joint_X_p": moved_back}),
    # Where contacts are springs, the puck hops a little while it slides.
    "friction": Change("SHAPE_PROPERTIES", "puck", X, slides, {"shape_material_mu": halved}, 0.1, tolerance=0.1),
    "kinematic": Change("BODY_PROPERTIES", "ball", Z, falls(Z), {"body_flags": held}),
}

UNMEASURED = {
    ("vbd", "JOINT_REFERENCE_POSE_PROPERTIES"),  # of rods, which bend
    *((name, flag) for name in RIGID for flag in ("TENDON_PROPERTIES", "ACTUATOR_PROPERTIES")),
}
"""What Newton's sources say of the solvers, and nothing here measures."""


def measurable(name):
    """Return the changes that a solver declares and that are measured here."""
    declared = CHANGES_OF[name] - {flag for other, flag in UNMEASURED if other == name}
    return [change for change, spec in CHANGES.items() if spec.flag in declared]


def bench_of(name):
    row = ROWS[name]
    options = dict(row.get("options", {}))
    if name == "xpbd":
        options["iterations"] = 1  # each iteration applies a drive once more
    tables = {
        "simulation": {
            "device": "cpu",
            "dt": row["dt"],
            "substeps": row.get("substeps", 1),
            "accept_unsupported": ["armature", "joint_stiffness", "mimic_joints"],
        },
        "scene": {"worlds": WORLDS},
        "solver": {"type": name, **options},
    }
    register = getattr(newton.solvers, row["newton"]).register_custom_attributes
    return pippin.Simulation(pippin.structure(tables), prototype=bench(register))


@pytest.fixture(scope="module")
def pair():
    """The bench of a solver twice, captured and settled: one to change, one to compare its other worlds with."""
    with ExitStack() as stack:

        @functools.cache
        def build(name):
            pair = [stack.enter_context(bench_of(name)) for _ in range(2)]
            step(pair, round(0.15 / pair[0].control_dt))
            return pair

        yield build


def notify(pair, flag):
    """Tell both, as telling alone may cost a warm start."""
    for simulation in pair:
        simulation.notify_model_changed(newton.ModelFlags[flag])


def step(pair, count):
    for simulation in pair:
        simulation.step(count)


def moving(simulation, body):
    """Return pose and velocity of a body in every world, shapes [world_count, 7] and [world_count, 6]."""
    index = BODIES.index(body)
    state = simulation.state
    return [array.numpy().reshape(WORLDS, len(BODIES), -1)[:, index].copy() for array in (state.body_q, state.body_qd)]


def rewrite(model, name, row, write):
    values = getattr(model, name).numpy().copy()
    values[row] = write(values[row])
    getattr(model, name).assign(values)


def assert_other_worlds_have_the_same_bits(pair):
    changed, undisturbed = (vars(simulation.state) for simulation in pair)
    others = [world for world in range(WORLDS) if world != CHANGED]
    for name in ("body_q", "body_qd", "joint_q", "joint_qd"):
        left, right = (state[name].numpy().reshape(WORLDS, -1)[others] for state in (changed, undisturbed))
        assert left.tobytes() == right.tobytes(), name


def known(model, world, change, name):
    """Return what the model says of a body, and the solver knows."""
    arrays = ["gravity", "body_mass", "body_inertia", "body_flags", "joint_X_p", "shape_material_mu", "joint_rest_q"]
    arrays += ["joint_target_ke", "joint_target_kd", "joint_armature"]
    of = {array: getattr(model, array).numpy()[rows(model, array, world, change.body)] for array in arrays}
    if "armature" not in PLUGINS[name].supported_features:
        of["joint_armature"] = 0.0
    return of


def assert_accelerates_by_law(simulation, change, name, before):
    """Hold the body in each world to the law, with what the model says of that world."""
    (_, old), (pose, new) = before, moving(simulation, change.body)
    duration = round(change.duration / simulation.control_dt) * simulation.control_dt
    for world in range(WORLDS):
        of = known(simulation.model, world, change, name)
        velocity = (old[world, change.axis] + new[world, change.axis]) / 2
        is_turning = change.axis > Z
        position = 2 * np.arctan2(pose[world, 5], pose[world, 6]) if is_turning else pose[world, X] - of["joint_X_p"][X]
        of = SimpleNamespace(position=position - velocity * duration / 2, velocity=velocity, **of)
        gained = (new - old)[world, change.axis] / duration
        assert gained == pytest.approx(change.law(of), rel=change.tolerance, abs=0.03), f"world {world}"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "change"), [(name, change) for name in RIGID for change in measurable(name)])
def test_a_declared_change_takes_effect_in_its_world_alone(pair, name, change):
    pair, change = pair(name), CHANGES[change]
    changed, _ = pair
    model = changed.model
    places = {array: rows(model, array, CHANGED, change.body) for array in change.write}
    authored = {array: getattr(model, array).numpy()[row].copy() for array, row in places.items()}
    try:
        for array, write in change.write.items():
            rewrite(model, array, places[array], write)
        notify(pair, change.flag)
        step(pair, 1)  # a body that is held stops, and one whose joint was moved goes there
        before = moving(changed, change.body)
        step(pair, round(change.duration / changed.control_dt))

        assert_accelerates_by_law(changed, change, name, before)
        assert_other_worlds_have_the_same_bits(pair)
    finally:
        for array, values in authored.items():
            rewrite(model, array, places[array], lambda _, values=values: values)
        notify(pair, change.flag)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RIGID if "CONSTRAINT_PROPERTIES" in CHANGES_OF[name]])
def test_a_follower_goes_where_new_coefficients_put_it(pair, name):
    """Some constraints are springs: a quarter of a period after the change, every solver's follower is there."""
    pair = pair(name)
    changed, _ = pair
    row = rows(changed.model, "joint_mimic_coeffs", CHANGED, "follower")
    rewrite(changed.model, "joint_mimic_coeffs", row, lambda _: [0.0, 0.8])
    notify(pair, "CONSTRAINT_PROPERTIES")

    step(pair, round(0.16 / changed.control_dt))

    follower = moving(changed, "follower")[0][:, X]
    np.testing.assert_allclose(follower, [0.5, 0.4, 0.5], atol=0.005)
    assert_other_worlds_have_the_same_bits(pair)


def test_every_declared_change_is_measured_or_said_not_to_be():
    apart = {"CONSTRAINT_PROPERTIES", "SHAPE_TYPE_AND_SOURCE"}  # above, and in tests/objects/test_bodies_variants.py
    measured = {change.flag for change in CHANGES.values()} | apart
    for name in RIGID:
        unmeasured = {flag for other, flag in UNMEASURED if other == name}
        assert CHANGES_OF[name] <= (measured | unmeasured) & set(FLAGS)
    assert all(CHANGES_OF[name] == {"MODEL_PROPERTIES"} for name in set(PLUGINS) - set(RIGID))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["style3d", pytest.param("implicit-mpm", marks=pytest.mark.slow)])
def test_gravity_of_cloth_and_grains_changes(suit, name):
    """The centre of mass gains g dt in a step; Style3D keeps 0.998 of its velocity, whatever the step."""
    with suit(name, 1).build() as simulation:
        simulation.model.gravity.assign([[0.0, 5.0, 0.0]] * 2)
        simulation.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
        simulation.step()
        gained = simulation.state.particle_qd.numpy()

    kept = 0.998 if name == "style3d" else 1.0
    np.testing.assert_allclose(gained.mean(axis=0), [kept * 0.3, kept * 5.0 * 0.002, 0.0], atol=1e-5)


@pytest.mark.first_cases(2)
def test_a_change_that_the_solver_does_not_take_over_is_refused_by_name(suited):
    with suited.build() as simulation:
        accepted = live_changes(dict.fromkeys(simulation.config.simulation.accept_unsupported, "live"))
        for flag in sorted(set(FLAGS) - CHANGES_OF[suited.solver] - accepted):
            message = rf"^notify_model_changed: solver '{suited.solver}' does not take over {flag} while it runs; "
            with pytest.raises(pippin.ConfigError, match=message):
                simulation.notify_model_changed(newton.ModelFlags[flag])
        simulation.step()


@pytest.mark.parametrize("flags", [1 << 13, -1, True, "SHAPE_PROPERTIES", 2.0])
def test_flags_that_do_not_exist_are_refused(chain, configure, flags):
    with (
        pippin.Simulation(configure("semi-implicit"), prototype=chain()) as simulation,
        pytest.raises(pippin.ConfigError, match=r"^notify_model_changed: expected flags of newton\.ModelFlags, got "),
    ):
        simulation.notify_model_changed(flags)


class Listening:
    """Semi-implicit Euler that writes down what it is told, and declares what a test wants it to."""

    coordinates = "maximal"

    def __init__(self, **declared):
        vars(self).update(declared)
        self.told = []

    @pippin.hookimpl
    def build_solver(self, model):
        told = self.told

        class Solver(newton.solvers.SolverSemiImplicit):
            def notify_model_changed(self, flags):
                told.append(flags)

        return Solver(model)


def test_a_change_of_what_the_user_does_without_is_accepted(chain, configure):
    config = attrs.evolve(
        configure("xpbd"), simulation=attrs.evolve(configure("xpbd").simulation, accept_unsupported=["armature"])
    )
    with pippin.Simulation(config, prototype=chain()) as simulation:
        view = simulation.view.articulations("*")
        with pytest.warns(UserWarning, match="has no armature, as simulation.accept_unsupported permits"):
            view.set_dof_armatures(view.get_dof_armatures())
        simulation.step()


def test_flags_wait_for_the_next_step_and_reach_the_solver_at_once(chain, configure):
    solver, flags = Listening(), newton.ModelFlags
    with pippin.Simulation(configure(None), plugins=[solver], prototype=chain()) as simulation:
        simulation.step()
        for flag in (flags.SHAPE_PROPERTIES, flags.MODEL_PROPERTIES, flags.SHAPE_PROPERTIES):
            simulation.notify_model_changed(flag)
        before = list(solver.told)
        simulation.step(2)

    assert before == []
    assert solver.told == [flags.SHAPE_PROPERTIES | flags.MODEL_PROPERTIES]


def test_a_solver_that_declares_nothing_is_told_of_everything(chain, configure):
    solver = Listening()
    with pippin.Simulation(configure(None), plugins=[solver], prototype=chain()) as simulation:
        simulation.notify_model_changed(newton.ModelFlags.ALL)
        simulation.step()

    assert solver.told == [newton.ModelFlags.ALL]
