"""Each bench of the kit with its feature taken out: a solver that declares the feature and ignores it is refused.

A mutant is a true solver that gets a model without the feature. The true solver passes each bench, see its own tests.
"""

import functools

import numpy as np
import pippin
import pytest
import warp as wp
from pippin.solving import FEATURES
from pippin_conformance import Conformance, mechanisms
from pippin_conformance.benches import BENCHES, CHECKED_APART, benches_of
from pippin_conformance.plugin_under_test import PluginUnderTest
from pippin_conformance.runtime_changes import RUNTIME_CHANGES
from pippin_conformance.suite import CHECKS
from pippin_conformance.trials import collisions_of, measured

SUBJECTS = {
    "featherstone": {},
    "semi-implicit": {"dt": 0.0005, "config": {"angular_damping": 0.0, "joint_mimic_ke": 1e4}},
    "xpbd": {"config": {"enable_restitution": True, "joint_linear_relaxation": 1.0, "joint_angular_relaxation": 1.0}},
    "mujoco-native": {},
    "steel": {"config": {"enable_joint_velocity_limits": True}},
    "vbd": {},
}


def fill(name, value):
    """Return a scrub that fills an array of the model."""
    return lambda model: getattr(model, name).fill_(value)


def spherical(model):
    inertia = np.broadcast_to(0.02 * np.eye(3), (model.body_count, 3, 3))
    model.body_inertia.assign(inertia.astype(np.float32))
    model.body_inv_inertia.assign(np.linalg.inv(inertia).astype(np.float32))


def diagonal(model):
    inertia = model.body_inertia.numpy() * np.eye(3)
    model.body_inertia.assign(inertia)
    model.body_inv_inertia.assign(np.linalg.inv(inertia).astype(np.float32))


def rolling(factor):
    """Return a scrub that multiplies the inertia."""

    def scrub(model):
        model.body_inertia.assign(factor * model.body_inertia.numpy())
        model.body_inv_inertia.assign(model.body_inv_inertia.numpy() / factor)

    return scrub


def standing(model):
    model.body_qd.zero_()
    model.joint_qd.zero_()


def colliding(keep):
    """Return a scrub that keeps only some pairs of shapes, told by whether each shape is on a moving body."""

    def scrub(model):
        pairs, bodies = model.shape_contact_pairs.numpy(), model.shape_body.numpy()
        kept = np.array([pair for pair in pairs if keep(*(bodies[pair] >= 0))], dtype=np.int32).reshape(-1, 2)
        model.shape_contact_pairs = type(model.shape_contact_pairs)(kept, dtype=model.shape_contact_pairs.dtype)

    return scrub


def opened(model):
    """Switch off the joints outside articulations."""
    model.joint_enabled.assign(model.joint_enabled.numpy() & (model.joint_articulation.numpy() >= 0))


def mimicking(offset, factor):
    return lambda model: model.joint_mimic_coeffs.fill_((offset, factor))


def columns(name, *chosen):
    """Return a scrub that sets columns of an array of the model to almost zero."""

    def scrub(model):
        values = getattr(model, name).numpy().copy()
        values[:, chosen] = 1e-6
        getattr(model, name).assign(values)

    return scrub


def absent(model):
    """Scrub nothing: the solver does not have the feature."""


def number(name, value):
    """Return a scrub that sets a number of the model."""
    return lambda model: setattr(model, name, value)


def of_mujoco(name, value):
    """Return a scrub that fills one of MuJoCo's own arrays of the model."""
    return lambda model: getattr(model.mujoco, name).fill_(value)


GRAVITY, NO_JOINT = fill("gravity", (0.0, 0.0, 0.0)), fill("joint_enabled", False)
NO_LOWER, NO_UPPER = fill("joint_limit_lower", -1e10), fill("joint_limit_upper", 1e10)

MUTANTS = [
    ("rigid_bodies", "featherstone", "weight", GRAVITY),
    ("rigid_bodies that tumble", "featherstone", "the gyroscopic torque", spherical),
    ("rigid_bodies that tumble", "featherstone", "products of inertia", diagonal),
    ("kinematic_bodies", "featherstone", "their velocity", standing),
    ("kinematic_bodies", "featherstone", "friction", fill("shape_material_mu", 0.0)),
    ("free_joints", "featherstone", "weight", GRAVITY),
    ("rigid_contacts", "xpbd", "contacts", colliding(lambda *_: False)),
    ("rigid_contacts", "mujoco-native", "shapes that collide", fill("shape_flags", 0)),
    ("rigid_contacts with much friction", "featherstone", "friction", fill("shape_material_mu", 0.0)),
    ("rigid_contacts with little friction", "featherstone", "the value of mu", fill("shape_material_mu", 0.5)),
    ("rigid_contacts that tip", "xpbd", "torques of contacts", fill("body_inv_inertia", 0.0)),
    ("rigid_contacts that fall back", "xpbd", "torques of contacts", fill("body_inv_inertia", 0.0)),
    ("rigid_contacts of a small ball", "xpbd", "contacts", colliding(lambda *_: False)),
    ("rigid_contacts of a small ball", "mujoco-native", "the size", fill("shape_scale", (0.001, 0.001, 0.001))),
    ("rigid_contacts of a rolling sphere", "xpbd", "friction", fill("shape_material_mu", 0.0)),
    ("rigid_contacts of a rolling sphere", "featherstone", "half of the inertia", rolling(0.5)),
    ("rigid_contacts of a rolling capsule", "steel", "twice the inertia", rolling(2.0)),
    ("rigid_contacts of a rolling cylinder", "xpbd", "twice the inertia", rolling(2.0)),
    ("rigid_contacts of a rolling cylinder", "featherstone", "friction", fill("shape_material_mu", 0.0)),
    ("rigid_contacts of bodies", "xpbd", "contacts of two bodies", colliding(lambda one, other: one != other)),
    *((f"rigid_contacts of {kind}", "xpbd", "friction", fill("shape_material_mu", 0.0)) for kind in mechanisms.SHAPES),
    ("fixed_joints", "semi-implicit", "joints", NO_JOINT),
    ("revolute_joints", "semi-implicit", "joints", NO_JOINT),
    ("ball_joints", "semi-implicit", "joints", NO_JOINT),
    ("prismatic_joints", "semi-implicit", "weight", GRAVITY),
    ("prismatic_joints across", "semi-implicit", "joints", NO_JOINT),
    ("d6_joints", "semi-implicit", "weight of two axes", GRAVITY),
    ("d6_joints across", "semi-implicit", "joints", NO_JOINT),
    ("distance_joints", "xpbd", "joints", NO_JOINT),
    ("loop_joints", "semi-implicit", "the joint that closes the loop", opened),
    ("disabled_joints", "semi-implicit", "the switch", fill("joint_enabled", True)),
    ("light_links", "featherstone", "weight", GRAVITY),
    ("joint_limits", "featherstone", "upper limits", NO_UPPER),
    ("joint_limits below", "featherstone", "lower limits", NO_LOWER),
    ("joint_limits of a slider", "featherstone", "upper limits", NO_UPPER),
    ("joint_limits of a slider below", "featherstone", "lower limits", NO_LOWER),
    ("ball_limits", "mujoco-native", "upper limits", NO_UPPER),
    *(
        (name, "featherstone", "stiffness of a drive", fill("joint_target_ke", 0.0))
        for name in benches_of("joint_drives")[:2]
    ),
    *(
        (name, "featherstone", "damping of a drive", fill("joint_target_kd", 0.0))
        for name in benches_of("joint_drives")[2:]
    ),
    ("massless_bodies", "featherstone", "weight", GRAVITY),
    ("mimic_joints", "featherstone", "the relation", fill("joint_mimic_joint", -1)),
    ("mimic_joints", "semi-implicit", "coefficients", mimicking(0.0, 1.0)),
    ("mimic_joints", "semi-implicit", "the factor", mimicking(0.1, 1.0)),
    ("mimic_joints", "semi-implicit", "the offset", mimicking(0.0, 2.0)),
    *((name, "featherstone", "armature", fill("joint_armature", 0.0)) for name in benches_of("armature")),
    *((name, "mujoco-native", "friction", fill("joint_friction", 0.0)) for name in benches_of("joint_friction")),
    *((name, "featherstone", "damping", fill("joint_damping", 0.0)) for name in benches_of("joint_damping")),
    *((name, "featherstone", "stiffness", fill("joint_stiffness", 0.0)) for name in benches_of("joint_stiffness")),
    ("ball_drives", "kamino", "gains", fill("joint_target_ke", 0.0)),
    ("ball_drives by velocity", "kamino", "damping", fill("joint_target_kd", 0.0)),
    ("ball_stiffness", "mujoco-native", "stiffness", fill("joint_stiffness", 0.0)),
    ("free_damping", "mujoco-native", "damping", fill("joint_damping", 0.0)),
    ("free_joint_forces", "mujoco-native", "friction", fill("joint_friction", 0.0)),
    *((name, "mujoco-native", "limits", fill("joint_effort_limit", 1e10)) for name in benches_of("effort_limits")),
    ("carried_sliders", "semi-implicit", "the torque, which it lacks", absent),
    ("carried_sliders", "vbd", "the torque, which it lacks", absent),
    *((name, "steel", "limits", fill("joint_velocity_limit", 1e10)) for name in benches_of("velocity_limits")),
    ("restitution of 1", "xpbd", "restitution", fill("shape_material_restitution", 0.0)),
    ("restitution of 0.5", "xpbd", "the value", fill("shape_material_restitution", 1.0)),
    ("restitution of 1", "xpbd", "the value", fill("shape_material_restitution", 0.5)),
    ("contact_stiffness", "featherstone", "stiffness", fill("shape_material_ke", 2500.0)),
    ("contact_stiffness", "featherstone", "damping", fill("shape_material_kd", 100.0)),
    ("friction_damping", "featherstone", "damping", fill("shape_material_kf", 1000.0)),
    ("mimic_constraints", "steel", "the relation of a constraint", fill("constraint_mimic_enabled", False)),
    ("mimic_constraints", "steel", "the factor of a constraint", fill("constraint_mimic_coef1", 1.0)),
    ("mimic_constraints", "steel", "the offset of a constraint", fill("constraint_mimic_coef0", 0.0)),
    ("equality_constraints", "mujoco-native", "the lock", of_mujoco("equality_constraint_enabled", False)),
    ("inactive_equalities", "xpbd", "the switch of an equality", fill("joint_enabled", True)),
    ("mujoco_tendons", "mujoco-native", "stiffness", of_mujoco("tendon_stiffness", 0.0)),
    ("asset_actuators", "mujoco-native", "their force", of_mujoco("actuator_biasprm", 0.0)),
    ("gravity_compensation", "mujoco-native", "compensation", of_mujoco("gravcomp", 0.0)),
    ("particles", "xpbd", "weight", GRAVITY),
    ("adhesion", "featherstone", "adhesion", fill("shape_material_ka", 0.0)),
    ("torsional_friction", "xpbd", "friction", fill("shape_material_mu_torsional", 0.0)),
    ("rolling_friction", "xpbd", "friction", fill("shape_material_mu_rolling", 0.0)),
    *((name, "featherstone", "stiffness", fill("joint_limit_ke", 1e4)) for name in benches_of("limit_stiffness")),
    *((name, "featherstone", "damping", fill("joint_limit_kd", 0.0)) for name in benches_of("limit_stiffness")),
    *((name, "mujoco-native", "limits", NO_UPPER) for name in benches_of("limit_stiffness")),
    *(
        (name, "vbd", "attachments", fill("attachment_particle_body_enabled", False))
        for name in benches_of("attachments")
    ),
    *(
        (name, "vbd", "stiffness", fill("attachment_particle_body_stiffness", 1e5))
        for name in benches_of("attachments")
    ),
    ("springs", "xpbd", "stiffness", fill("spring_stiffness", 0.0)),
    ("springs", "featherstone", "the value", fill("spring_stiffness", 400.0)),
    ("springs with damping", "xpbd", "damping", fill("spring_damping", 0.0)),
    *((name, "vbd", "stiffness", columns("tri_materials", 0, 1)) for name in benches_of("triangles")),
    *((name, "featherstone", "stiffness", columns("tri_materials", 0, 1)) for name in benches_of("triangles")),
    *((name, "xpbd", "stiffness", columns("edge_bending_properties", 0)) for name in benches_of("bending")),
    *((name, "vbd", "stiffness", columns("edge_bending_properties", 0)) for name in benches_of("bending")),
    *((name, "vbd", "stiffness", columns("tet_materials", 0, 1)) for name in benches_of("tetrahedra")),
    ("tetrahedra that stretch", "xpbd", "stiffness", columns("tet_materials", 0, 1)),
    ("triangle_damping", "vbd", "damping", columns("tri_materials", 2)),
    ("triangle_damping", "semi-implicit", "damping", columns("tri_materials", 2)),
    ("bending_damping", "xpbd", "damping", columns("edge_bending_properties", 1)),
    ("rest_angles", "vbd", "the angle", fill("edge_rest_angle", 0.0)),
    ("rest_angles", "featherstone", "the value", fill("edge_rest_angle", -0.01)),
    ("tetrahedron_damping", "xpbd", "damping", columns("tet_materials", 2)),
    ("tetrahedron_damping", "featherstone", "damping", columns("tet_materials", 2)),
    ("air_drag", "featherstone", "drag", columns("tri_materials", 3)),
    ("air_drag", "vbd", "drag, which it does not have", absent),
    ("air_drag that lifts", "featherstone", "lift", columns("tri_materials", 4)),
    ("activations", "featherstone", "activation", fill("tet_activations", 0.0)),
    ("muscles", "featherstone", "muscles, which Newton leaves out", absent),
    ("particle_contacts", "xpbd", "their radius", fill("particle_radius", 0.0)),
    ("particle_contacts", "vbd", "contacts of particles, which it does not have", absent),
    ("face_contacts", "vbd", "the switch", absent),
    ("face_contacts", "semi-implicit", "the radius of particles", fill("particle_radius", 0.0)),
    ("rod_joints", "vbd", "stiffness of a drive", fill("joint_target_ke", 0.0)),
    ("rod_joints that stretch", "vbd", "stiffness of a drive", fill("joint_target_ke", 0.0)),
    ("tendons", "vbd", "friction", fill("tendon_guide_mu", 0.0)),
    ("tendons", "xpbd", "friction", fill("tendon_guide_mu", 0.0)),
    ("tendons", "xpbd", "the value", fill("tendon_guide_mu", 0.05)),
    ("soft_contact_stiffness", "vbd", "stiffness", number("soft_contact_ke", 2500.0)),
    ("soft_contact_stiffness", "featherstone", "damping", number("soft_contact_kd", 200.0)),
    ("soft_contact_friction", "vbd", "friction", number("soft_contact_mu", 0.8)),
    ("soft_contact_friction", "xpbd", "friction", number("soft_contact_mu", 0.8)),
    ("soft_contact_friction_damping", "featherstone", "damping", number("soft_contact_kf", 1000.0)),
    ("soft_contact_restitution", "xpbd", "restitution", number("soft_contact_restitution", 0.0)),
    ("soft_contact_restitution", "xpbd", "the value", number("soft_contact_restitution", 1.0)),
    ("particle_contact_stiffness", "semi-implicit", "stiffness", number("particle_ke", 2500.0)),
    ("particle_contact_stiffness", "semi-implicit", "damping", number("particle_kd", 100.0)),
    ("particle_friction", "xpbd", "friction", number("particle_mu", 0.0)),
    ("particle_friction", "semi-implicit", "the value", number("particle_mu", 0.5)),
    ("particle_cohesion", "xpbd", "cohesion", number("particle_cohesion", 0.0)),
    ("particle_adhesion", "featherstone", "adhesion", number("particle_adhesion", 0.0)),
]
"""Bench, solver, what is taken out, and how."""


def scrubbed(monkeypatch, solver, scrub, *features):
    """Let a solver's plugin get models from which something was taken out, declare features, and return it."""
    subject = PluginUnderTest(kind="solver", name=solver, **SUBJECTS.get(solver, {}))
    monkeypatch.setattr(
        subject.plugin, "supported_features", subject.plugin.supported_features | dict.fromkeys(features, "live")
    )
    original = subject.plugin.build_solver

    @pippin.hookimpl
    @functools.wraps(original)
    def build_solver(self, **arguments):
        scrub(arguments["model"])
        return original(self, **arguments)

    monkeypatch.setattr(subject.plugin, "build_solver", build_solver)
    return subject


@functools.cache
def features_of(solver):
    """Return the features that a solver has as it is tried here."""
    return PluginUnderTest(kind="solver", name=solver, **SUBJECTS.get(solver, {})).features


FIRST = {case[0].partition(" ")[0]: case for case in reversed(MUTANTS)}
"""The first mutant of each feature, which is quick enough for every run of the tests."""

MUJOCO = ("mujoco", "mujoco-native")
UNREAD = {
    "joints": ("featherstone", "kamino", "steel", *MUJOCO),  # they know no disabled joints
    "the joint that closes the loop": ("kamino", *MUJOCO),
    "shapes that collide": ("featherstone", "kamino", "semi-implicit", "steel", "vbd", "xpbd"),  # their pairs are known
    "contacts": MUJOCO,  # it chooses the pairs of shapes itself
    "contacts of two bodies": MUJOCO,
    "torques of contacts": ("featherstone", "steel", "vbd", *MUJOCO),  # they invert inertias themselves
    "the relation of a constraint": MUJOCO,  # it reads its own arrays of what MJCF says
    "the factor of a constraint": MUJOCO,
    "the offset of a constraint": MUJOCO,
    "the switch of an equality": MUJOCO,
    "stiffness of a drive": ("kamino",),  # it refuses a drive without gains
    "damping of a drive": ("kamino",),
    "weight of two axes": ("kamino",),  # it refuses such a joint
}
"""Solvers that do not read, or refuse, what a mutant is made by."""

CROSSED = [
    (bench, other, missing, scrub)
    for bench, solver, missing, scrub in MUTANTS
    for other in SUBJECTS | {"kamino": {}, "mujoco": {}}
    if other != solver and other not in UNREAD.get(missing, ())
    if scrub is not absent and bench.partition(" ")[0] in features_of(other)
    if not any(case[:3] == (bench, other, missing) for case in MUTANTS)
]
"""The same benches on every other solver that has the feature."""


@pytest.mark.first_cases(25)
@pytest.mark.filterwarnings("ignore:.*MJ_MINMU.*:UserWarning")  # a mutant without friction
@pytest.mark.parametrize(
    ("bench", "solver", "missing", "scrub"),
    [pytest.param(*case, marks=() if case in FIRST.values() else pytest.mark.slow) for case in (*MUTANTS, *CROSSED)],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_bench_fails_without_its_feature(monkeypatch, bench, solver, missing, scrub):
    found = measured(scrubbed(monkeypatch, solver, scrub, bench.partition(" ")[0]), [bench])[bench]

    least, most = BENCHES[bench].bounds
    assert not isinstance(found, Exception), found
    assert not least <= found.number <= most, f"{bench} without {missing}: {found}"


EVERYWHERE = [
    ("armature", "featherstone", fill("joint_armature", 1.0)),
    ("joint_damping", "featherstone", fill("joint_damping", 10.0)),
    ("rigid_contacts with little friction", "featherstone", fill("shape_material_mu", 0.1)),
]
"""Benches that a solver passes although it has the same number for everything."""


@pytest.mark.parametrize(
    ("bench", "solver", "scrub"), EVERYWHERE, ids=lambda each: each if isinstance(each, str) else ""
)
def test_what_acts_everywhere_is_found_by_the_control(monkeypatch, bench, solver, scrub):
    feature = bench.partition(" ")[0]
    scrubbed(monkeypatch, solver, scrub)
    result = Conformance("solver", solver).run(f"feature_{feature}")

    assert result.outcome == "failed"
    if bench == feature:  # other benches of contacts notice it, too
        assert "where this has nothing to do" in result.reason


def test_one_world_without_its_joints_is_found_beside_another(monkeypatch):
    def second_loose(model):
        model.joint_enabled.assign(model.joint_enabled.numpy() & (model.joint_world.numpy() == 0))

    scrubbed(monkeypatch, "semi-implicit", second_loose)
    result = Conformance("solver", "semi-implicit", **SUBJECTS["semi-implicit"]).run("feature_heterogeneous_worlds")

    assert result.outcome == "failed"
    assert "declares heterogeneous_worlds, but not so that a hinged link turns down" in result.reason


OPTIONS = [
    (solver, feature, option)
    for solver in ("kamino", "steel", "vbd", "xpbd")
    for feature, option in PluginUnderTest(kind="solver", name=solver).plugin.optional_features.items()
    if benches_of(feature)
]
"""Features that a solver has with an option, which its own tests leave out."""


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "feature", "option"), OPTIONS)
def test_a_feature_that_needs_an_option_is_honoured_with_it(solver, feature, option):
    config = {"dynamics_solver": "lox"} if option.startswith("lox.") else {}
    place = config
    for key in option.split(".")[:-1]:
        place = place.setdefault(key, {})
    place[option.split(".")[-1]] = True

    subject = PluginUnderTest(kind="solver", name=solver, config=config)
    for name, found in measured(subject, benches_of(feature)).items():
        least, most = BENCHES[name].bounds
        if "require CUDA" in str(found):
            pytest.skip("the solver refuses the option on the CPU")
        assert not isinstance(found, Exception), found
        assert least <= found.number <= most, name
        assert not least <= found.control <= most, name


@pytest.mark.slow
def test_a_root_that_the_solver_keeps_in_place_is_found(monkeypatch):
    @pippin.hookimpl
    def bind(self, simulation):
        self.frames = simulation.model.joint_X_p
        self.kept = wp.clone(self.frames)

    @pippin.hookimpl
    def before_substep(self):
        wp.copy(self.frames, self.kept)

    plugin = PluginUnderTest(kind="solver", name="xpbd").plugin
    for hook in (bind, before_substep):
        monkeypatch.setattr(plugin, hook.__name__, hook, raising=False)

    assert Conformance("solver", "xpbd", **SUBJECTS["xpbd"]).run("change_set_root_transforms").outcome == "failed"


def test_every_bench_has_a_negative_control_and_every_feature_a_bench_or_a_check():
    assert {bench for bench, *_ in MUTANTS} == set(BENCHES)
    assert {f"feature_{name}" for name in FEATURES} <= {check.name for check in CHECKS}
    assert {name.partition(" ")[0] for name in BENCHES} | set(CHECKED_APART) == set(FEATURES)


def test_benches_of_equal_keys_share_one_simulation():
    found = collisions_of(list(BENCHES))

    assert 1 < len(found) < 12
    assert all(found.count(each) == 1 for each in found)
    assert all(bench.collision in found for bench in BENCHES.values())


@pytest.mark.parametrize("name", RUNTIME_CHANGES)
def test_the_worlds_that_are_not_asked_are_the_negative_control_of_a_runtime_change(name):
    (least, most), (idle_least, idle_most) = RUNTIME_CHANGES[name].acting, RUNTIME_CHANGES[name].idle

    assert most < idle_least or idle_most < least
