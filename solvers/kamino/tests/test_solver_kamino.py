"""The Kamino plugin: Newton's options with Newton's defaults, and a solver that obeys them or the asset."""

import copy
import dataclasses

import attrs
import mujoco
import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_solver_kamino import KaminoConfig
from pippin_solver_kamino.solver import SolverKamino

INHERITED = {
    "constraints.alpha",
    "constraints.beta",
    "constraints.gamma",
    "dvi.max_alternating_iterations",
    "dynamics.linear_solver_kwargs",
    "dynamics.linear_solver_type",
    "dynamics.preconditioning",
    "lox.max_iterations",
    "padmm.compl_tolerance",
    "padmm.dual_tolerance",
    "padmm.max_iterations",
    "padmm.primal_tolerance",
    "padmm.use_acceleration",
    "padmm.warmstart_mode",
    "rotation_correction",
    "sparse_jacobian",
}
"""Fields whose None leaves it to the asset, or to what suits the dynamics solver."""

UNBOUNDED = {f"constraints.{kind}_recovery_speed" for kind in ("joint", "limit", "contact")}
"""Fields whose None stands for Newton's infinity, which no file can hold."""

DETECTOR = {"max_contacts_per_pair": 12, "max_triangle_pairs": 1_000_000, "default_gap": 1e-5}
"""What Newton's detector replaces its None by as soon as its settings are made."""

OURS = {"max_contacts_per_world"}


def flat(values, prefix=""):
    """Yield every value of nested dictionaries by its dotted path."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


@pytest.mark.alone
def test_options_and_defaults_are_those_of_newton():
    theirs = dict(
        flat(dataclasses.asdict(newton.solvers.SolverKamino.Config(use_collision_detector=True, use_fk_solver=True)))
    )
    ours = dict(flat(attrs.asdict(KaminoConfig())))

    assert {path for path in UNBOUNDED if theirs[path] == float("inf")} == UNBOUNDED
    assert {name: theirs[f"collision_detector.{name}"] for name in DETECTOR} == DETECTOR
    theirs |= dict.fromkeys(INHERITED | UNBOUNDED | {f"collision_detector.{name}" for name in DETECTOR})
    theirs |= {"use_collision_detector": False, "use_fk_solver": False}
    assert {path: value for path, value in ours.items() if path not in OURS} == theirs


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("dynamics_solver", "pgs"),
        ("angular_velocity_damping", 1.5),
        ("padmm.max_iterations", 0),
        ("padmm.primal_tolerance", float("nan")),
        ("padmm.tau", 1.0),
        ("padmm.warmstart_mode", "always"),
        ("dvi.omega", 2.5),
        ("dvi.apgd.relaxation", 0.0),
        ("lox.weight_beta", 0.5),
        ("max_contacts_per_world", 0),
        ("constraints.contact_recovery_speed", float("inf")),
        ("collision_detector.default_gap", -0.1),
        ("materials.friction_mix_mode", "mean"),
        ("fk.tolerance", 0.0),
    ],
)
def test_a_bad_option_is_refused_by_name(option, value):
    for key in reversed(option.split(".")):
        value = {key: value}

    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}: "):
        pippin.structure({"solver": {"type": "kamino", **value}})


def test_moreau_needs_its_own_contacts():
    config = pippin.structure({"solver": {"type": "kamino", "integrator": "moreau"}})

    with pytest.raises(pippin.ConfigError, match=r"^solver\.integrator: 'moreau' .*; set use_collision_detector"):
        pippin.Simulation(config)


LENGTH, INERTIA, MASS = 0.5, 0.02, 1.0
SIDE, DENSITY, DT = 0.2, 500.0, 0.004


@pytest.fixture(scope="module")
def scene():
    """A pendulum, and two boxes on top of each other, side by side."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverKamino.register_custom_attributes(builder)
    bob = builder.add_link(label="bob", mass=MASS, inertia=wp.diag(wp.vec3(INERTIA)))
    builder.body_com[bob] = wp.vec3(0.0, 0.0, -LENGTH)
    pivot = wp.transform(wp.vec3(0.0, 2.0, 2.0), wp.quat_identity())
    hinge = builder.add_joint_revolute(-1, bob, parent_xform=pivot, axis=(0.0, 1.0, 0.0), label="hinge")
    builder.add_articulation([hinge], label="pendulum")
    builder.joint_q[0] = 0.05
    for index in range(2):
        pose = wp.transform(wp.vec3(0.0, 0.0, SIDE * (index + 0.5)), wp.quat_identity())
        box = builder.add_body(xform=pose, label=f"box_{index}")
        shape = newton.ModelBuilder.ShapeConfig(density=DENSITY, mu=0.5)
        builder.add_shape_box(box, hx=SIDE / 2, hy=SIDE / 2, hz=SIDE / 2, cfg=shape)
    return builder


class ContactForces:
    """Keeps what the solver says about contact forces."""

    observables = frozenset({"contact_f"})

    @pippin.hookimpl
    def update_sensors(self, contacts, observables):
        self.contacts, self.forces = contacts, observables.contact_f

    def vertical_on(self, shape):
        """Return the sum of the vertical forces between a shape and all others [N]."""
        count = int(self.contacts.rigid_contact_count.numpy()[0])
        sides = [getattr(self.contacts, f"rigid_contact_shape{side}").numpy()[:count] for side in (0, 1)]
        vertical = self.forces.numpy()[:count, 2]
        return vertical[sides[0] == shape].sum() - vertical[sides[1] == shape].sum()


pytestmark = [
    pytest.mark.slow,
    pytest.mark.simulation(dt=DT, capture="require", ground=True, solver={"type": "kamino"}, options="solver"),
]


@pytest.mark.alone
def test_options_reach_the_solver_and_the_rest_is_the_assets(simulate, scene):
    """Kamino's attributes hold what a USD scene says; a prototype built in Python may set them as well."""
    prototype = copy.deepcopy(scene)
    prototype.custom_attributes["kamino:constraints_beta"].values = {0: 0.25}
    with simulate(prototype, padmm={"max_iterations": 50}, constraints={"gamma": 0.1}) as simulation:
        settings = simulation.solver._config

    assert isinstance(simulation.solver, newton.solvers.SolverKamino)
    assert settings.padmm.max_iterations == 50
    assert (settings.constraints.alpha, settings.constraints.gamma) == (pytest.approx(0.01), 0.1)
    assert settings.constraints.beta == 0.25


def test_what_newton_refuses_is_refused_at_the_choice_of_the_dynamics_solver(simulate, scene):
    with pytest.raises(pippin.ConfigError, match=r"^solver\.dynamics_solver: 'lox' .*sparse_jacobian=True"):
        simulate(scene, dynamics_solver="lox", sparse_jacobian=False)


def test_contacts_per_world_size_the_pipeline(simulate, scene):
    with simulate(scene, worlds=2, max_contacts_per_world=16) as simulation:
        assert simulation.contacts.rigid_contact_max == 32


def test_a_robot_that_can_touch_nothing_gets_room_for_one_contact(simulate):
    """The least that there is: for 0, Newton takes its estimate, 1000 and more."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    conformance.scenes.add_chain(builder, [0.3, 0.0], length=LENGTH, armature=0.01)

    with simulate(builder, worlds=2, ground=False) as simulation:
        assert simulation.model.rigid_contact_max == 2


@pytest.mark.parametrize(("kind", "room"), [("box", 3 * 8), ("mesh", 1000)])
def test_the_room_for_contacts_is_that_of_a_pile_of_primitives(simulate, kind, room):
    """Three boxes make three pairs and no ground; of meshes, Newton estimates the number."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for number in range(3):
        body = builder.add_body(xform=wp.transform((0.0, 0.0, 0.3 * number), wp.quat_identity()), mass=1.0)
        shape = {"mesh": newton.Mesh.create_box(0.1, 0.1, 0.1)} if kind == "mesh" else {"hx": 0.1, "hy": 0.1, "hz": 0.1}
        getattr(builder, f"add_shape_{kind}")(body, **shape)

    with simulate(builder, worlds=1, ground=False) as simulation:
        assert simulation.contacts.rigid_contact_max == room


def test_more_contacts_than_a_world_has_room_for_are_reported(simulate, scene):
    """Eight contacts fit into Newton's buffer of twelve for both worlds; one world has them all."""
    with simulate(scene, worlds=2, max_contacts_per_world=6) as simulation:
        lifted = simulation.state.body_q.numpy().copy()
        lifted[4:6, 2] = 10.0, 20.0
        simulation.state.body_q.assign(lifted)
        simulation.step(2)

        with pytest.raises(
            pippin.SimulationError,
            match=r"^solver\.max_contacts_per_world: 8 contacts of one world did not fit into 6; set it to at least 8$",
        ):
            simulation.raise_errors()


def test_one_more_place_than_a_world_has_contacts_is_enough(simulate, scene):
    with simulate(scene, worlds=2, max_contacts_per_world=9) as simulation:
        simulation.step(2)

        simulation.raise_errors()


@pytest.mark.parametrize("use_collision_detector", [False, True])
def test_a_stack_rests_and_a_pendulum_swings_whoever_detects_contacts(simulate, scene, use_collision_detector):
    """The ground bears the weight of the boxes within a percent.

    A quarter of T = 2π √((I + m l²) / (m g l)) after the start, the pendulum hangs down: at rest it is 0.05 rad aside.
    """
    probe = ContactForces()
    quarter = np.pi / 2 * np.sqrt((INERTIA + MASS * LENGTH**2) / (MASS * 9.81 * LENGTH))
    with simulate(scene, plugins=[probe], use_collision_detector=use_collision_detector) as simulation:
        simulation.step(round(quarter / DT))
        simulation.raise_errors()
        body_q, body_qd = simulation.state.body_q.numpy(), simulation.state.body_qd.numpy()
        angle = simulation.state.joint_q.numpy()[0]
        ground = simulation.model.shape_label.index("ground_plane")

        assert SolverKamino.supported_observables <= simulation.solver.supported_observables
        assert simulation.program.is_captured
        assert (simulation.contact_source.pipeline is None) == use_collision_detector

    np.testing.assert_allclose(body_q[1:, 2], [SIDE / 2, 3 * SIDE / 2], atol=1e-3)
    np.testing.assert_allclose(body_qd[1:], 0.0, atol=1e-3)
    assert probe.vertical_on(ground) == pytest.approx(-2 * DENSITY * SIDE**3 * 9.81, rel=0.01)
    assert angle == pytest.approx(0.0, abs=1e-3)


def test_the_velocity_of_a_free_joint_is_that_of_the_centre_of_mass(simulate):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_shape_sphere(builder.add_body(label="ball"), radius=0.1)
    builder.body_com[0] = wp.vec3(0.2, 0.0, 0.0)
    builder.joint_qd[:] = [0.3, 0.0, 0.0, 0.0, 0.0, 2.0]
    with simulate(builder, ground=False) as simulation:
        simulation.view.gravity = (0.0, 0.0, 0.0)

        simulation.step(20)

        np.testing.assert_allclose(simulation.state.joint_qd.numpy(), [0.3, 0.0, 0.0, 0.0, 0.0, 2.0], atol=1e-4)


def test_a_free_body_with_a_rotor_inertia_falls_and_turns_as_without(simulate):
    """Kamino has no rotor inertias of free joints, and would throw the body."""

    def poses(armature):
        builder = newton.ModelBuilder()
        body = builder.add_link(mass=1.0, inertia=wp.mat33(np.diag([0.1, 0.2, 0.25])), com=(0.2, 0.1, 0.0))
        builder.add_articulation([builder.add_joint_free(body)])
        builder.joint_armature[:] = [armature] * 6
        builder.joint_qd[:] = [0.5, 0.2, 0.1, 1.0, 2.0, 0.5]
        with simulate(builder, accept_unsupported=["free_joint_forces"]) as simulation:
            simulation.step(20)
            return simulation.state.body_q.numpy()

    np.testing.assert_allclose(poses(0.4), poses(0.0), atol=1e-6)


@pytest.mark.parametrize("is_carried", [True, False])
def test_a_rotor_inertia_of_a_carried_ball_joint_is_told(simulate, is_carried):
    builder = newton.ModelBuilder()
    base = builder.add_link(mass=1.0, inertia=wp.mat33(np.eye(3) * 0.01), lock_inertia=True, label="base")
    ball = builder.add_link(mass=1.0, inertia=wp.mat33(np.eye(3) * 0.01), lock_inertia=True, label="ball")
    hinge = builder.add_joint_revolute(-1, base, axis=newton.Axis.Z)
    joint = builder.add_joint_ball(base if is_carried else -1, ball, armature=0.07, label="shoulder")
    builder.add_articulation([hinge, joint] if is_carried else [hinge])
    if not is_carried:
        builder.add_articulation([joint])

    with simulate(builder) as simulation:
        notes = [note for notes in simulation.notes.values() for note in notes]

    assert any("shoulder" in note and "armature" in note for note in notes) == is_carried


@pytest.mark.parametrize("friction", [0.4, 0.0])
def test_friction_that_holds_where_that_of_mujoco_creeps_is_told(simulate, friction, tmp_path):
    """The torque of the weight is all but the friction; MuJoCo's creep is 0.9 of what the note says at most."""
    text = f"""<mujoco><option gravity="0 0 -1" timestep=".002" integrator="implicitfast"/><worldbody><body name="b">
      <joint name="j" axis="0 1 0" frictionloss="{friction}"/>
      <inertial pos=".18 0 0" mass="2" diaginertia=".01 .02 .03"/></body></worldbody></mujoco>"""
    (tmp_path / "b.xml").write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 50)

    with simulate(scene={"assets": [{"path": str(tmp_path / "b.xml")}]}) as simulation:
        notes = [note for notes in simulation.notes.values() for note in notes if "joint_friction" in note]
        simulation.step(50)
        speed = simulation.state.joint_qd.numpy()[0]

    if friction:
        assert "j' by up to 0.005 rad/s" in notes[0]
        assert data.qvel[0] == pytest.approx(0.9 * 0.005, rel=0.1)
        assert speed == pytest.approx(0.0, abs=1e-5)
    else:
        assert not notes


@pytest.mark.filterwarnings("ignore:.*Adding a BALL joint")
@pytest.mark.parametrize("tie", ['<connect body1="b" anchor="0 0 0"/>', ""])
def test_ties_that_hold_where_those_of_mujoco_give_way_are_told(simulate, tie, tmp_path):
    """The body starts away from its anchor at 0.5 m/s; MuJoCo's tie lets it go by a part of 20 ms of that."""
    text = f"""<mujoco><option gravity="0 0 0" timestep=".002"/><worldbody><body name="b"><freejoint/>
      <geom size=".1" mass="1" contype="0" conaffinity="0"/></body></worldbody><equality>{tie}</equality>
      <keyframe><key name="k" qvel=".5 0 0 0 0 0"/></keyframe></mujoco>"""
    (tmp_path / "b.xml").write_text(text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    gap = 0.0
    for _ in range(50 * bool(tie)):
        mujoco.mj_step(model, data)
        gap = max(gap, data.xpos[1, 0])

    scene = {"assets": [{"path": str(tmp_path / "b.xml"), "keyframe": "k"}]}
    with simulate(scene=scene, accept_unsupported=["free_joint_forces"]) as simulation:
        notes = [note for notes in simulation.notes.values() for note in notes if "close loops" in note]
        simulation.step(5)
        place = simulation.state.body_q.numpy()[0, 0]

    if tie:
        assert "up to 20 ms times the speed" in notes[0]
        assert 0.1 * 0.02 * 0.5 < gap < 0.02 * 0.5
        assert abs(place) < 0.2 * gap
    else:
        assert not notes


def test_a_joint_that_kamino_does_not_have_is_refused_by_name(simulate):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    axes = [newton.ModelBuilder.JointDofConfig(axis=axis) for axis in (newton.Axis.X, newton.Axis.Z)]
    builder.add_articulation([builder.add_joint_d6(-1, link, linear_axes=axes, label="rail")])

    with pytest.raises(pippin.ConfigError, match=r"no joint of 2 linear and 0 angular axes, as 'rail' has; put a body"):
        simulate(builder)


@pytest.mark.parametrize("hinge", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (-0.6, 0.8, 0.0)])
def test_a_slide_and_a_hinge_of_one_joint_need_parallel_axes(simulate, hinge):
    """Newton takes every such joint for a cylindrical one: the body turned about the slide."""
    slide = (-0.6, 0.8, 0.0)
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    first, second = (newton.ModelBuilder.JointDofConfig(axis=wp.vec3(*axis)) for axis in (slide, hinge))
    builder.add_articulation([builder.add_joint_d6(-1, link, linear_axes=[first], angular_axes=[second], label="rail")])

    if hinge == slide:
        simulate(builder)
    else:
        with pytest.raises(pippin.ConfigError, match="whose slide and hinge have different axes, as 'rail' has"):
            simulate(builder)


@pytest.fixture
def linkage():
    """A parallelogram in the xz plane: two cranks of equal length, hinged to the world, and a bar between their tips.

    The joint between the bar and the second crank closes the loop and stands outside the articulation.
    """
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverKamino.register_custom_attributes(builder)

    def link(label, x, z):
        pose = wp.transform(wp.vec3(x, 0.0, z), wp.quat_identity())
        return builder.add_link(xform=pose, label=label, mass=MASS, inertia=wp.diag(wp.vec3(INERTIA)))

    def hinge(parent, child, at_parent, at_child, **options):
        frames = [wp.transform(wp.vec3(*point), wp.quat_identity()) for point in (at_parent, at_child)]
        return builder.add_joint_revolute(
            parent, child, parent_xform=frames[0], child_xform=frames[1], axis=(0.0, 1.0, 0.0), **options
        )

    first, bar, second = (
        link("first", 0.0, LENGTH / 2),
        link("bar", LENGTH, LENGTH),
        link("second", 2 * LENGTH, LENGTH / 2),
    )
    tip, foot = (0.0, 0.0, LENGTH / 2), (0.0, 0.0, -LENGTH / 2)
    motor = newton.JointTargetMode.POSITION
    tree = [
        hinge(-1, first, (0.0, 0.0, 0.0), foot, label="motor", actuator_mode=motor, target_ke=1.0),
        hinge(first, bar, tip, (-LENGTH, 0.0, 0.0), label="left"),
        hinge(-1, second, (2 * LENGTH, 0.0, 0.0), foot, label="foot"),
    ]
    builder.add_articulation(tree, label="linkage")
    hinge(bar, second, (LENGTH, 0.0, 0.0), tip, label="right")
    builder.joint_q[0] = 0.4
    return builder


def test_kinematics_leave_mechanisms_without_loops_alone(simulate, scene):
    """A passive pendulum has no drive from which its pose would follow."""
    with simulate(scene, capture="off", use_fk_solver=True) as simulation:
        simulation.step(2)
        simulation.reset([0])

        np.testing.assert_allclose(simulation.state.joint_q.numpy()[0], 0.05, atol=1e-6)
        assert np.isfinite(simulation.state.body_q.numpy()).all()


def test_kinematics_close_the_loop_at_start_and_at_reset(simulate, linkage):
    """Turned by the angle of the motor, the second crank stays parallel to the first, and the bar level."""
    poses = []
    with simulate(linkage, capture="off", ground=False, use_fk_solver=True) as simulation:
        poses.append(simulation.state.body_q.numpy().copy())
        simulation.step(2)
        simulation.reset([0])
        poses.append(simulation.state.body_q.numpy().copy())

    for pose in poses:
        tip = LENGTH * np.array([np.sin(0.4), 0.0, np.cos(0.4)])
        np.testing.assert_allclose(pose[0, :3], tip / 2, atol=1e-5)
        np.testing.assert_allclose(pose[1, :3], tip + np.array([LENGTH, 0.0, 0.0]), atol=1e-5)
        np.testing.assert_allclose(pose[2, :3], tip / 2 + np.array([2 * LENGTH, 0.0, 0.0]), atol=1e-5)


def test_a_linear_solver_that_cannot_be_recorded_on_the_cpu_runs_eagerly(simulate, scene):
    with simulate(scene, capture="auto", dynamics={"linear_solver_type": "CR"}) as simulation:
        simulation.step()

        assert not simulation.program.is_captured
        assert "strided copies" in str(simulation.program.eager_reasons)


def test_a_linear_solver_for_cuda_is_refused_on_the_cpu(simulate, scene):
    with pytest.raises(pippin.ConfigError, match=r"dynamics\.linear_solver_type: 'CRF' .* set 'CR'"):
        simulate(scene, dynamics={"linear_solver_type": "CRF"})


CONFORMANCE = conformance.Conformance(
    "solver",
    "kamino",
    dt=0.004,
    config={"max_contacts_per_world": 128},
    expected_failures={
        "unknown_keys": "linear_solver_kwargs and bilateral_solver_kwargs accept the keys of the chosen linear solver",
        "feature_d6_joints": "joints may turn about two or three axes, or slide along three, but not along two",
    },
)


@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


def test_the_key_of_the_solver_that_sizes_the_contacts_is_named():
    """A box has 4 contacts in each world, and room for 1."""
    box = {"type": "body", "label": "b", "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}], "position": [0, 0, 0.1]}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002},
        "scene": {"worlds": 2, "ground": True, "objects": [box]},
        "solver": {"type": "kamino", "max_contacts_per_world": 1},
    }
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        simulation.step(2)

        with pytest.raises(pippin.SimulationError, match=r"max_contacts_per_world: 8 .* at least 5 per world"):
            simulation.raise_errors()
