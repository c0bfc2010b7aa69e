"""PD control of joints: the law, what reaches the joints, and what is refused. The solver is made here."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin.axes import name_axes

POSITIONS = np.array([0.3, -0.2, 0.1], dtype=np.float32)
VELOCITIES = np.array([1.0, -2.0, 0.5], dtype=np.float32)
NAMES = ("hip", "knee", "ankle")
INERTIA = 0.05  # of each link about its joint [kg·m²]


class Featherstone:
    """A solver that comes with Newton itself."""

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)


@pytest.fixture
def legs():
    """Three links side by side, each on a hinge of its own through its centre of mass, so that none moves another."""
    builder = newton.ModelBuilder()
    for name, position, velocity in zip(NAMES, POSITIONS, VELOCITIES, strict=True):
        link = builder.add_link(label=f"{name}_link", mass=1.0, inertia=wp.diag(wp.vec3(INERTIA)))
        joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=name, armature=0.0)
        builder.add_articulation([joint], label=name)
        builder.joint_q[-1], builder.joint_qd[-1] = float(position), float(velocity)
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.001,
    gravity=0.0,
    solver=Featherstone,
    actuators={"legs": {"type": "pd", "joints": [".*"]}},
    options="actuators.legs",
)


@pytest.mark.alone
def test_effort_follows_the_law(simulate, legs):
    """feedforward + kp (q* - q) + kd (q̇* - q̇) of the state at the start of the step, to a float's rounding."""
    random = np.random.default_rng(3)
    targets, rates, forward = (random.uniform(-1.0, 1.0, (2, 3)).astype(np.float32) for _ in range(3))
    with simulate(legs, worlds=2, kp=20.0, kd=1.5) as simulation:
        group = simulation.actuators["legs"]
        group.position_targets.assign(targets)
        group.velocity_targets.assign(rates)
        group.feedforward.assign(forward)

        simulation.step()

        expected = forward + 20.0 * (targets - POSITIONS) + 1.5 * (rates - VELOCITIES)
        assert group.joint_labels == NAMES
        np.testing.assert_allclose(group.computed_effort.numpy(), expected, rtol=1e-5, atol=1e-5)


def test_effort_opposes_velocity(simulate, legs):
    with simulate(legs, kd=2.0) as simulation:
        simulation.step()

        effort = simulation.actuators["legs"].computed_effort.numpy()[0]

    assert (effort * VELOCITIES < 0.0).all()


def test_effort_turns_the_joint(simulate, legs):
    """Δq̇ = τ dt / I, on links that gravity and neighbours leave alone; the torque of spin is second order in dt."""
    with simulate(legs, kp=20.0) as simulation:
        simulation.actuators["legs"].position_targets.fill_(1.0)

        simulation.step()

        effort = simulation.actuators["legs"].applied_effort.numpy()[0]
        gained = simulation.state.joint_qd.numpy() - VELOCITIES

    np.testing.assert_allclose(gained, effort * 0.001 / INERTIA, rtol=1e-4)


def test_a_joint_with_a_spring_swings_with_the_period_of_the_formula(simulate, legs):
    """T = 2π √(I / kp). Sampled every 1 ms, and symplectic Euler errs by (ω dt)² / 24: together below 0.5 %."""
    period, velocities = 2.0 * np.pi * np.sqrt(INERTIA / 20.0), []
    with simulate(legs, kp=20.0) as simulation:
        for _ in range(int(1.3 * period / 0.001)):
            simulation.step()
            velocities.append(simulation.state.joint_qd.numpy()[0])

    crossings = np.flatnonzero(np.diff(np.sign(velocities)))

    assert np.diff(crossings)[0] * 0.001 == pytest.approx(period / 2.0, rel=5e-3)


def test_gains_may_differ_from_joint_to_joint(simulate, legs):
    with simulate(legs, worlds=2, kp={"hip": 10.0, "knee|ankle": 20.0}, kd={"hip": 0.0, "knee": 1.0, "ankle": 2.0}) as (
        simulation
    ):
        simulation.actuators["legs"].position_targets.zero_()

        simulation.step()

        effort = simulation.actuators["legs"].computed_effort.numpy()

    kp, kd = np.array([10.0, 20.0, 20.0]), np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(effort, np.tile(-kp * POSITIONS - kd * VELOCITIES, (2, 1)), rtol=1e-5)


def test_targets_hold_the_initial_pose(simulate, legs):
    legs.joint_qd[:] = [0.0, 0.0, 0.0]
    with simulate(legs, worlds=2, kp=50.0, kd=1.0) as simulation:
        group = simulation.actuators["legs"]

        simulation.step(20)

        np.testing.assert_array_equal(group.position_targets.numpy(), [POSITIONS, POSITIONS])
        np.testing.assert_array_equal(group.computed_effort.numpy(), 0.0)
        np.testing.assert_array_equal(simulation.state.joint_q.numpy(), np.tile(POSITIONS, 2))


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_a_command_arrives_after_exactly_its_delay(simulate, legs, steps):
    arrived = []
    with simulate(legs, delay={"steps": steps}) as simulation:
        group = simulation.actuators["legs"]
        simulation.step()
        group.feedforward.fill_(2.0)
        for _ in range(5):
            simulation.step()
            arrived.append(group.computed_effort.numpy()[0, 0])

    assert arrived == [0.0] * steps + [2.0] * (5 - steps)


def test_measurements_do_not_wait(simulate, legs):
    """Only targets are late: the damping follows the velocity of the very step."""
    with simulate(legs, kd=2.0, delay={"steps": 3}) as simulation:
        for _ in range(5):
            before = simulation.state.joint_qd.numpy().copy()
            simulation.step()

        effort = simulation.actuators["legs"].computed_effort.numpy()[0]

    np.testing.assert_allclose(effort, -2.0 * before, rtol=1e-6)


def test_what_reaches_the_joints_is_clamped(simulate, legs):
    with simulate(legs, clamping=[{"type": "max-effort", "max_effort": 1.5}]) as simulation:
        group = simulation.actuators["legs"]
        group.feedforward.assign(np.float32([[1.0, 4.0, -4.0]]))

        simulation.step()

        np.testing.assert_array_equal(group.computed_effort.numpy(), [[1.0, 4.0, -4.0]])
        np.testing.assert_array_equal(group.applied_effort.numpy(), [[1.0, 1.5, -1.5]])
        np.testing.assert_array_equal(simulation.control.joint_f.numpy(), [1.0, 1.5, -1.5])


def test_the_smallest_of_several_limits_holds(simulate, legs):
    clamping = [{"type": "max-effort", "max_effort": limit} for limit in (3.0, 2.0, 5.0)]
    with simulate(legs, clamping=clamping) as simulation:
        simulation.actuators["legs"].feedforward.fill_(-4.0)

        simulation.step()

        np.testing.assert_array_equal(simulation.actuators["legs"].applied_effort.numpy(), -2.0)


def test_efforts_do_not_add_up_from_step_to_step(simulate, legs):
    with simulate(legs) as simulation:
        simulation.actuators["legs"].feedforward.fill_(0.5)

        simulation.step(4)

        np.testing.assert_array_equal(simulation.control.joint_f.numpy(), 0.5)


def test_what_is_written_in_place_takes_effect_in_a_captured_step(simulate, legs):
    """The array has the shape (worlds, joints)."""
    with simulate(legs, worlds=2, capture="require") as simulation:
        group = simulation.actuators["legs"]
        simulation.step(3)

        group.feedforward[1:2, 2:3].fill_(0.25)
        simulation.step()

        assert simulation.program.is_captured
        np.testing.assert_array_equal(group.applied_effort.numpy(), [[0.0, 0.0, 0.0], [0.0, 0.0, 0.25]])


def test_drives_of_the_asset_are_off_on_driven_joints_alone(simulate, legs):
    for dof in range(3):
        legs.joint_target_ke[dof], legs.joint_target_kd[dof] = 100.0, 10.0
        legs.joint_target_mode[dof] = int(newton.JointTargetMode.POSITION)
    groups = {"upper": {"type": "pd", "joints": ["hip", "knee"]}}
    with simulate(legs, actuators=groups) as simulation:
        model = simulation.model

        assert model.joint_target_ke.numpy().tolist() == [0.0, 0.0, 100.0]
        assert model.joint_target_kd.numpy().tolist() == [0.0, 0.0, 10.0]
        assert model.joint_target_mode.numpy().tolist() == [
            int(newton.JointTargetMode.NONE),
            int(newton.JointTargetMode.NONE),
            int(newton.JointTargetMode.POSITION),
        ]


def test_groups_drive_their_own_joints_in_any_order(simulate, legs):
    groups = {
        "last": {"type": "pd", "joints": ["ankle"]},
        "others": {"type": "pd", "joints": ["knee", "hip"]},
    }
    with simulate(legs, worlds=2, actuators=groups) as simulation:
        simulation.actuators["last"].feedforward.fill_(1.0)
        simulation.actuators["others"].feedforward.assign(np.float32([[2.0, 3.0], [4.0, 5.0]]))

        simulation.step()

        assert simulation.actuators["others"].joint_labels == ("hip", "knee")
        assert simulation.control.joint_f.numpy().tolist() == [2.0, 3.0, 1.0, 4.0, 5.0, 1.0]


def test_two_groups_on_one_dof_are_refused(simulate, legs):
    groups = {"all": {"type": "pd", "joints": [".*"]}, "again": {"type": "pd", "joints": ["knee"]}}

    with pytest.raises(
        pippin.ConfigError,
        match=r"actuators\.again\.joints: joint 'knee' is driven by actuators\.all already; give each joint to one",
    ):
        simulate(legs, actuators=groups)


@pytest.mark.parametrize("kind", ["free", "ball", "fixed"])
def test_a_joint_whose_coordinates_are_not_angles_or_lengths_is_refused(simulate, kind):
    builder = newton.ModelBuilder()
    link = builder.add_link(label="link", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    joint = getattr(builder, f"add_joint_{kind}")(parent=-1, child=link, label="odd")
    builder.add_articulation([joint])

    with pytest.raises(
        pippin.ConfigError,
        match=rf"actuators\.legs\.joints: '\.\*' matches no joint with an axis.* 'odd' \({kind}\); choose",
    ):
        simulate(builder)


def test_every_dof_of_a_joint_with_several_is_driven(simulate):
    builder = newton.ModelBuilder()
    link = builder.add_link(label="link", mass=1.0, inertia=wp.diag(wp.vec3(INERTIA)))
    axes = [newton.ModelBuilder.JointDofConfig(axis=axis, armature=0.0) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))]
    builder.add_articulation([builder.add_joint_d6(-1, link, angular_axes=axes, label="wrist")])
    builder.joint_q[:] = [0.1, -0.2]
    with simulate(builder, worlds=2, kp=10.0) as simulation:
        group = simulation.actuators["legs"]
        group.position_targets.assign(np.float32([[0.0, 0.0], [0.1, 0.2]]))

        simulation.step()

        assert group.joint_labels == ("wrist:0", "wrist:1")
        np.testing.assert_allclose(group.applied_effort.numpy(), [[-1.0, 2.0], [0.0, 4.0]], rtol=1e-5)
        np.testing.assert_allclose(simulation.control.joint_f.numpy(), [-1.0, 2.0, 0.0, 4.0], rtol=1e-5)


@pytest.fixture
def wrist():
    """A link on two crossed axes with names, which a free body carries."""
    builder = newton.ModelBuilder()
    hand, link = (builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(INERTIA))) for _ in range(2))
    axes = [newton.ModelBuilder.JointDofConfig(axis=axis, armature=0.0) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))]
    joints = [
        builder.add_joint_free(hand, label="base"),
        builder.add_joint_d6(hand, link, angular_axes=axes, label="xy"),
    ]
    builder.add_articulation(joints)
    name_axes(builder, joints[1], ["roll", "pitch"])
    return builder


def test_named_axes_of_one_joint_have_parameters_of_their_own(simulate, wrist):
    limits = [{"type": "max-effort", "max_effort": {"roll": 1.0, "pitch": 2.0}}]
    gains = {"kp": {"roll": 10.0, "pitch": 20.0}, "armature": {"roll": 0.1, "pitch": 0.2}, "clamping": limits}
    with simulate(wrist, worlds=2, **gains) as simulation:
        group = simulation.actuators["legs"]
        group.set("kd", 3.0, joints="pitch", worlds=[1])

        assert group.joint_labels == ("roll", "pitch")
        assert group.get("kp").numpy().tolist() == [[10.0, 20.0]] * 2
        assert group.get("kd").numpy().tolist() == [[0.0, 0.0], [0.0, 3.0]]
        assert group.get("clamping[0].max_effort").numpy().tolist() == [[1.0, 2.0]] * 2
        assert simulation.model.joint_armature.numpy()[6:8] == pytest.approx([0.1, 0.2])


def test_two_groups_share_a_joint_but_no_axis(simulate, wrist):
    groups = {name: {"type": "pd", "joints": [name]} for name in ("roll", "pitch")}
    with simulate(wrist, actuators=groups) as simulation:
        assert [group.actuated_dofs.numpy().tolist() for group in simulation.actuators.values()] == [[6], [7]]

    with pytest.raises(
        pippin.ConfigError, match=r"^actuators\.both\.joints: joint 'pitch' is driven by actuators\.pitch"
    ):
        simulate(wrist, actuators={"pitch": groups["pitch"], "both": {"type": "pd", "joints": [".*"]}})


def test_joints_without_axes_are_left_out_and_noted(simulate, wrist):
    with simulate(wrist) as simulation:
        assert simulation.actuators["legs"].joint_labels == ("roll", "pitch")
        noted = simulation.notes["actuators:legs"]
        assert noted[0] == "joints: leaves out 'base' (free), no joint with an axis of one coordinate"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"joints": ["hipp"]}, r"actuators\.legs\.joints: no joint matches 'hipp'.*'hip'"),
        ({"joints": ["("]}, r"actuators\.legs\.joints: '\(' is not a regular expression"),
        ({"kp": {"hip": 1.0}}, r"actuators\.legs\.kp: no pattern matches joint 'knee'"),
        ({"kd": {"hip": 1.0, ".*": 2.0}}, r"actuators\.legs\.kd: joint 'hip' matches both 'hip' and '\.\*'"),
        ({"kp": {"toe": 1.0, ".*": 2.0}}, r"actuators\.legs\.kp: no joint matches 'toe'"),
    ],
)
def test_patterns_that_do_not_fit_the_joints_are_refused(simulate, legs, options, message):
    with pytest.raises(pippin.ConfigError, match=message):
        simulate(legs, **options)


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("kp", {"kp": float("nan")}),
        ("kp", {"kp": -1.0}),
        ("kp", {"kp": float("inf")}),
        ("kd", {"kd": -0.5}),
        ("kd", {"kd": {"hip": float("nan")}}),
        ("kd", {"kd": {"hip": -1.0}}),
        ("joints", {"joints": []}),
        ("joints", {"joints": "hip"}),
        (r"delay\.steps", {"delay": {"steps": -1}}),
        (r"delay\.steps", {"delay": {"steps": 1.5}}),
        (r"clamping\.0\.max_effort", {"clamping": [{"type": "max-effort", "max_effort": -1.0}]}),
        (r"clamping\.0\.type", {"clamping": [{"max_effort": 1.0}]}),
        ("ki", {"ki": 1.0}),
    ],
)
def test_values_that_make_no_sense_are_refused_where_they_stand(field, options):
    with pytest.raises(pippin.ConfigError, match=rf"^actuators\.legs\.{field}\b.*: "):
        pippin.structure({"actuators": {"legs": {"type": "pd", "joints": [".*"], **options}}})


CONFORMANCE = conformance.Conformance("actuator", "pd", config={"kp": 20.0, "kd": 1.0, "delay": {"steps": 3}})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
