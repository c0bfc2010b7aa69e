"""The solver's own drives: what they are given, that it acts by world, and what they do not have."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin.solving import RIGID_TREES

NAMES = ("hip", "knee")
INERTIA = 2.0


class Featherstone:
    """A solver that comes with Newton itself."""

    def __init__(self, features=RIGID_TREES):
        self.supported_features = features

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)


def legs():
    """A free base, and two hinges of 2 kg·m² that hang from the world, so that coordinates and DOFs differ."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    base = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
    builder.add_articulation([builder.add_joint_free(base, label="base")])
    for index, name in enumerate(NAMES):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(INERTIA)))
        joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=name, armature=0.0)
        builder.add_articulation([joint])
        builder.joint_q[-1], builder.joint_qd[-1] = 0.2 * index, 0.5
        builder.joint_effort_limit[-1] = 70.0
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.001,
    capture="require",
    accept_unsupported=["effort_limits"],
    gravity=0.0,
    prototype=legs,
    solver=Featherstone,
    actuators={"legs": {"type": "solver-pd", "joints": ["hip", "knee"], "kp": 100.0, "kd": 10.0}},
    options="actuators.legs",
)


def gained(simulation):
    """Return the change of the hinges' velocities in one step [rad/s], shape [world_count, 2]."""
    before = hinges(simulation.state.joint_qd, simulation).copy()
    simulation.step()
    return hinges(simulation.state.joint_qd, simulation) - before


def hinges(array, simulation):
    return array.numpy().reshape(simulation.world_count, -1)[:, -2:]


@pytest.mark.alone
def test_the_solver_drives_by_the_law(simulate):
    """Δq̇ = (kp (q* - q) + kd (q̇* - q̇) + feedforward) dt / I, on hinges that nothing else moves."""
    with simulate(worlds=2) as simulation:
        group = simulation.actuators["legs"]
        targets, rates, forward = (np.float32([[1.0, 2.0], [3.0, 4.0]]) * scale for scale in (0.1, 0.5, 2.0))
        group.position_targets.assign(targets)
        group.velocity_targets.assign(rates)
        group.feedforward.assign(forward)

        found = gained(simulation)

        effort = 100.0 * (targets - [0.0, 0.2]) + 10.0 * (rates - 0.5) + forward
        np.testing.assert_allclose(found, effort * 0.001 / INERTIA, rtol=1e-3)


def test_targets_reach_the_solver_at_their_coordinates_and_dofs(simulate):
    """The free base has seven coordinates and six degrees of freedom before those of the hinges."""
    with simulate(worlds=2) as simulation:
        group, control = simulation.actuators["legs"], simulation.control
        group.velocity_targets.assign(np.float32([[1.0, 2.0], [3.0, 4.0]]))
        base = control.joint_target_q.numpy()[:7].copy()

        simulation.step(2)

        assert group.joint_labels == NAMES
        np.testing.assert_allclose(hinges(control.joint_target_q, simulation), [[0.0, 0.2], [0.0, 0.2]])
        np.testing.assert_array_equal(hinges(control.joint_target_qd, simulation), [[1.0, 2.0], [3.0, 4.0]])
        np.testing.assert_array_equal(control.joint_target_q.numpy()[:7], base)
        assert simulation.program.is_captured


def test_drives_and_limits_take_the_place_of_the_asset_s_on_driven_joints_alone(simulate):
    prototype = legs()
    for dof in (6, 7):
        prototype.joint_target_ke[dof], prototype.joint_target_kd[dof] = 7.0, 3.0
        prototype.joint_target_mode[dof] = int(newton.JointTargetMode.POSITION)
    limits = {"effort_limit": {"hip": 5.0}, "velocity_limit": 9.0}
    group = {"type": "solver-pd", "joints": ["hip"], "kp": {"hip": 100.0}, "kd": 10.0, "armature": 0.1, **limits}
    solver = Featherstone(RIGID_TREES | {"armature": "live"})
    accepted = ["effort_limits", "velocity_limits"]
    with simulate(prototype, actuators={"legs": group}, solver=solver, accept_unsupported=accepted) as simulation:
        model = simulation.model
        np.testing.assert_array_equal(hinges(model.joint_target_ke, simulation), [[100.0, 7.0]])
        np.testing.assert_array_equal(hinges(model.joint_target_kd, simulation), [[10.0, 3.0]])
        np.testing.assert_array_equal(hinges(model.joint_effort_limit, simulation), [[5.0, 70.0]])
        np.testing.assert_array_equal(hinges(model.joint_velocity_limit, simulation)[:, :1], [[9.0]])
        np.testing.assert_allclose(hinges(model.joint_armature, simulation), [[0.1, 0.0]])
        modes = [int(newton.JointTargetMode[name]) for name in ("POSITION_VELOCITY", "POSITION")]
        np.testing.assert_array_equal(hinges(model.joint_target_mode, simulation), [modes])


def test_gains_that_are_set_act_in_their_world_from_the_next_step_on(simulate):
    with simulate(worlds=3, kd=0.0) as simulation:
        group = simulation.actuators["legs"]
        simulation.step(2)
        group.set("kp", 200.0, worlds=[1])
        group.set("kp", [[0.0, 300.0]], worlds=[2])
        group.position_targets.fill_(1.0)
        errors = 1.0 - hinges(simulation.state.joint_q, simulation)

        found = gained(simulation)

        kp = np.array([[100.0, 100.0], [200.0, 200.0], [0.0, 300.0]])
        np.testing.assert_allclose(found, kp * errors * 0.001 / INERTIA, rtol=1e-3, atol=1e-6)
        np.testing.assert_array_equal(group.get("kp").numpy(), kp)


def test_a_reset_draws_the_gains_of_its_worlds_and_they_act(simulate):
    with simulate(worlds=3, kp={"uniform": [50.0, 150.0]}, kd=0.0) as simulation:
        group = simulation.actuators["legs"]
        group.position_targets.fill_(1.0)
        simulation.step()
        before = group.get("kp").numpy()
        simulation.reset([1])
        group.position_targets.fill_(1.0)
        after = group.get("kp").numpy()
        errors = 1.0 - hinges(simulation.state.joint_q, simulation)

        found = gained(simulation)

    assert len(np.unique([*before.ravel(), *after[1]])) == 8
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    np.testing.assert_allclose(found, after * errors * 0.001 / INERTIA, rtol=1e-3)


def hinge(label):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(INERTIA)))
    builder.add_articulation([builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=label, armature=0.0)])
    return builder


def simulate_two_robots(**options):
    group = {"type": "solver-pd", "kd": 0.0, **options}
    tables = {"simulation": {"device": "cpu", "dt": 0.001}, "scene": {"worlds": 3, "gravity": [0.0, 0.0, 0.0]}}
    config = pippin.structure({**tables, "actuators": {"arm": group}})
    solver = Featherstone(RIGID_TREES | {"heterogeneous_worlds": "live", "armature": "live"})
    return pippin.Simulation(config, plugins=[solver], prototype=[(hinge("left"), 2), (hinge("right"), 1)])


def test_worlds_without_the_joints_are_left_alone():
    with simulate_two_robots(joints=["right"], kp=100.0) as simulation:
        group = simulation.actuators["arm"]
        group.position_targets.fill_(1.0)

        simulation.step()

        assert group.worlds.tolist() == [2]
        found = hinges(simulation.state.joint_qd, simulation)
        np.testing.assert_allclose(found, [[0.0], [0.0], [100.0 * 0.001 / INERTIA]], rtol=1e-3)


@pytest.mark.parametrize("field", ["kp", "armature"])
def test_a_table_without_the_joints_of_one_robot_is_an_error(field):
    options = {"kp": 1.0, field: {"left": 1.0}}
    with pytest.raises(pippin.ConfigError, match=rf"actuators\.arm\.{field}: no joint matches 'left'.*\(in world 2\)"):
        simulate_two_robots(joints=[".*"], **options)


def test_what_get_returns_is_a_copy(simulate):
    """The solver would not hear of a value that is written into it."""
    with simulate() as simulation:
        group = simulation.actuators["legs"]
        group.get("kp").zero_()

        np.testing.assert_array_equal(group.get("kp").numpy(), 100.0)


@pytest.mark.parametrize("name", ["computed_effort", "applied_effort"])
def test_there_is_no_effort_to_read_and_the_error_says_where_to_look(simulate, name):
    with simulate() as simulation:
        group = simulation.actuators["legs"]
        with pytest.raises(AttributeError, match=rf"{name}: the solver .* 'qfrc_actuator' .* type 'pd'"):
            getattr(group, name)


def test_a_solver_without_joint_drives_is_refused(simulate):
    with pytest.raises(pippin.ConfigError, match=r"does not support joint_drives .* used by hip, knee;"):
        simulate(solver=Featherstone(RIGID_TREES | {"joint_drives": "no"}))


def test_a_solver_without_effort_limits_is_refused():
    group = {"type": "solver-pd", "joints": ["knee"], "kp": 1.0, "kd": 0.0, "effort_limit": 5.0}
    tables = pippin.structure({"simulation": {"device": "cpu"}, "actuators": {"legs": group}})
    with pytest.raises(pippin.ConfigError, match=r"does not support effort_limits .* used by knee;"):
        pippin.Simulation(tables, plugins=[Featherstone()], prototype=legs())


def test_a_joint_that_a_pd_drives_already_is_refused(simulate):
    one = {"type": "solver-pd", "joints": ["hip", "knee"], "kp": 1.0, "kd": 1.0}
    with pytest.raises(pippin.ConfigError, match=r"joint 'knee' is driven by actuators\.legs already"):
        simulate(actuators={"legs": one, "again": {**one, "joints": ["knee"]}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"joints": ["base"]}, r"actuators\.legs\.joints: 'base' matches no joint with an axis"),
        ({"kp": {"hip": 1.0}}, r"actuators\.legs\.kp: no pattern matches joint 'knee'"),
        ({"effort_limit": {"toe": 1.0}}, r"actuators\.legs\.effort_limit: no joint matches 'toe'"),
        ({"kp": -1.0}, r"actuators\.legs\.kp\b.*finite and >= 0"),
        ({"kd": {"uniform": [-1.0, 1.0]}}, r"actuators\.legs\.kd\b.*finite and >= 0"),
        ({"effort_limit": 0.0}, r"actuators\.legs\.effort_limit\b.*finite and > 0"),
        ({"velocity_limit": -1.0}, r"actuators\.legs\.velocity_limit\b.*finite and > 0"),
        ({"delay": {"steps": 1}}, r"actuators\.legs\.delay\b.*unknown key"),
        ({"clamping": []}, r"actuators\.legs\.clamping\b.*unknown key"),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_stands(simulate, options, message):
    with pytest.raises(pippin.ConfigError, match=message):
        simulate(**options)


@pytest.mark.parametrize("field", ["kp", "kd"])
def test_gains_have_no_default(field):
    """Without gains the model has no drive, and the host could not tell whether the solver supports one."""
    gains = {name: 1.0 for name in ("kp", "kd") if name != field}
    with pytest.raises(pippin.ConfigError, match=rf"actuators\.legs\.{field}: missing"):
        pippin.structure({"actuators": {"legs": {"type": "solver-pd", "joints": [".*"], **gains}}})


CONFORMANCE = conformance.Conformance("actuator", "solver-pd", config={"kp": 20.0, "kd": 1.0})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
