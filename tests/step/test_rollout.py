"""Gradients through steps, against formulas and against finite differences; and a rollout against the steps it is."""

import subprocess
import sys

import newton
import numpy as np
import pippin
import pytest
import warp as wp

pytestmark = pytest.mark.slow

COORDINATES = {"semi-implicit": "body_qd", "featherstone": "joint_qd"}
"""The velocities that each solver starts a step from."""
STEPS, DT = 20, 0.002


@wp.kernel
def height(body_q: wp.array[wp.transform], loss: wp.array[float]):
    """Loss = z of the first body."""
    loss[0] = wp.transform_get_translation(body_q[0])[2]


@wp.kernel
def last_angle(joint_q: wp.array[float], loss: wp.array[float]):
    """Loss = position of the last joint."""
    loss[0] = joint_q[joint_q.shape[0] - 1]


def differentiate(simulation, kernel, name, count=STEPS):
    """Return the states of a rollout and its loss, differentiated."""
    loss = wp.zeros(1, dtype=float, device=simulation.device, requires_grad=True)
    with wp.Tape() as tape:
        states = simulation.rollout(count)
        wp.launch(kernel, 1, [getattr(states[-1], name), loss], device=simulation.device)
    tape.backward(loss)
    return states, float(loss.numpy()[0])


def differences(simulation, kernel, name, array, size=2e-3, count=STEPS):
    """Return the loss's central difference by each entry of an array that the rollout reads."""
    start = array.numpy().copy()
    slopes = np.zeros(start.size)
    for index in range(start.size):
        ends = []
        for sign in (1.0, -1.0):
            moved = start.copy()
            moved.reshape(-1)[index] += sign * size
            array.assign(moved)
            loss = wp.zeros(1, dtype=float, device=simulation.device)
            wp.launch(kernel, 1, [getattr(simulation.rollout(count)[-1], name), loss], device=simulation.device)
            ends.append(float(loss.numpy()[0]))
        slopes[index] = (ends[0] - ends[1]) / (2.0 * size)
    array.assign(start)
    return slopes.reshape(start.shape)


@pytest.mark.parametrize("solver", COORDINATES)
def test_gradients_of_a_thrown_ball_follow_the_formula(solver, ball, configure):
    """z = z₀ + v t − g t (t + dt)/2, as the Euler steps add up: dz/dz₀ = 1, dz/dv = t, dz/dg = t (t + dt)/2."""
    undamped = {"type": solver, "angular_damping": 0.0}
    with pippin.Simulation(configure(undamped, dt=DT, requires_grad=True), prototype=ball()) as simulation:
        states, _ = differentiate(simulation, height, "body_q")

        velocity = COORDINATES[solver]
        by_velocity = getattr(states[0], velocity).grad.numpy().ravel()
        by_position = getattr(states[0], velocity.replace("qd", "q")).grad.numpy().ravel()
        by_gravity = simulation.model.gravity.grad.numpy()[0]
    time = STEPS * DT
    np.testing.assert_allclose(by_position[:3], [0.0, 0.0, 1.0], rtol=1e-5)
    np.testing.assert_allclose(by_velocity[:3], [0.0, 0.0, time], rtol=1e-5)
    np.testing.assert_allclose(by_gravity, [0.0, 0.0, time * (time + DT) / 2.0], rtol=1e-5)


LIMITS = [{"type": "max-effort", "max_effort": 30.0}, {"type": "max-effort", "max_effort": 25.0}]
PD = {"arm": {"type": "pd", "joints": [".*"], "kp": 20.0, "kd": 1.0, "clamping": LIMITS}}
SOFT = {"type": "semi-implicit", "joint_attach_kd": 1.0}


def test_gradients_of_a_driven_double_pendulum_are_its_finite_differences(chain, configure):
    """The mass matrix changes as it swings, which Newton's own arrays forget."""
    config = configure("featherstone", dt=0.01, substeps=5, decimation=2, requires_grad=True, actuators=PD)
    with pippin.Simulation(config, prototype=chain(angle=1.0)) as simulation:
        arm = simulation.actuators["arm"]
        arm.position_targets.assign([[0.5, -0.5]])
        states, _ = differentiate(simulation, last_angle, "joint_q", count=10)

        for gradient, array in (
            (states[0].joint_q.grad, simulation.state.joint_q),
            (states[0].joint_qd.grad, simulation.state.joint_qd),
            (arm.position_targets.grad, arm.position_targets),
            (arm.feedforward.grad, arm.feedforward),
        ):
            expected = differences(simulation, last_angle, "joint_q", array, count=10)
            np.testing.assert_allclose(gradient.numpy(), expected, rtol=2e-3, atol=2e-4)


def test_gradients_of_a_driven_pendulum_of_springs_are_its_finite_differences(chain, configure):
    """In maximal coordinates the start is the bodies', and joint positions are computed from them."""
    config = configure(SOFT, dt=0.002, substeps=2, decimation=3, requires_grad=True, actuators=PD)
    with pippin.Simulation(config, prototype=chain(link_count=1, angle=1.0)) as simulation:
        states, _ = differentiate(simulation, last_angle, "joint_q", count=10)

        gradient = states[0].body_qd.grad.numpy()
        expected = differences(simulation, last_angle, "joint_q", simulation.state.body_qd, count=10)
        np.testing.assert_allclose(gradient, expected, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("solver", COORDINATES)
def test_gradients_of_a_bouncing_ball_are_its_finite_differences(solver, ball, configure):
    """Where it touches is taken as given; how deep is differentiated."""
    config = configure(solver, dt=0.001, requires_grad=True, scene={"ground": True})
    with pippin.Simulation(config, prototype=ball(height=0.11)) as simulation:
        velocity = COORDINATES[solver]
        array = getattr(simulation.state, velocity)
        array.assign(np.reshape([0.0, 0.0, -1.0, 0.0, 0.0, 0.0], array.numpy().shape))
        states, end = differentiate(simulation, height, "body_q", count=60)

        gradient = getattr(states[0], velocity).grad.numpy()
        expected = differences(simulation, height, "body_q", array, count=60)
        assert end < 0.1  # within the ball's radius of the ground
        simulation.step(60)
        assert_same(states[-1], simulation.state)
        np.testing.assert_allclose(gradient.ravel()[2], expected.ravel()[2], rtol=1e-2)


@wp.kernel
def place_of_a_point(body_q: wp.array[wp.transform], loss: wp.array[float]):
    """Loss = x + 2 y + 3 z of a point beside the first body's centre."""
    point = wp.transform_point(body_q[0], wp.vec3(0.3, 0.1, -0.5))
    loss[0] = point[0] + 2.0 * point[1] + 3.0 * point[2]


@pytest.mark.parametrize("solver", COORDINATES)
def test_gradients_of_a_pushed_body_are_its_finite_differences(solver, ball, configure):
    """The place where a force acts is differentiated as well."""
    with pippin.Simulation(configure(solver, dt=0.005, requires_grad=True), prototype=ball()) as simulation:
        simulation.state.body_f.assign([[1.0, -2.0, 20.0, 0.01, 0.02, -0.01]])
        states, _ = differentiate(simulation, place_of_a_point, "body_q")

        velocity = COORDINATES[solver]
        expected = differences(simulation, place_of_a_point, "body_q", getattr(simulation.state, velocity))
        gradient = getattr(states[0], velocity).grad.numpy()
        np.testing.assert_allclose(gradient, expected, rtol=2e-2, atol=2e-3)
        assert np.abs(expected).max() > 0.05


@pytest.mark.parametrize("solver", COORDINATES)
def test_a_rollout_gives_the_states_of_the_steps_it_does_not_take(solver, chain, configure):
    """Bit for bit, with efforts and a push; and the steps after it are those of a simulation without one."""
    config = configure(solver, dt=0.001, substeps=2, decimation=3, requires_grad=True, actuators=PD)
    simulations = [pippin.Simulation(config, prototype=chain(angle=1.0)) for _ in range(2)]
    rolled, stepped = simulations
    for simulation in simulations:
        simulation.step(2)
        simulation.state.body_f.assign(np.full((2, 6), 3.0))

    states = rolled.rollout(3)
    effort = rolled.actuators["arm"].applied_effort.numpy().copy()

    for state in states[1:]:
        stepped.step()
        assert_same(state, stepped.state)
    rolled.step(3)
    assert_same(rolled.state, stepped.state)
    assert rolled.program.is_captured
    assert np.any(effort != rolled.actuators["arm"].applied_effort.numpy())


@pytest.mark.parametrize("solver", COORDINATES)
def test_a_rollout_goes_on_from_a_state_of_another_one(solver, chain, configure):
    config = configure(solver, dt=0.001, substeps=2, requires_grad=True, actuators=PD)
    with pippin.Simulation(config, prototype=chain(angle=1.0)) as simulation:
        whole = simulation.rollout(5)
        rest = simulation.rollout(3, start=simulation.rollout(2)[-1], first=2)

        assert_same(rest[-1], whole[-1])
        assert not np.array_equal(rest[-1].joint_q.numpy(), rest[0].joint_q.numpy())


def assert_same(state: newton.State, other: newton.State):
    for name in ("joint_q", "joint_qd", "body_q", "body_qd"):
        np.testing.assert_array_equal(getattr(state, name).numpy(), getattr(other, name).numpy(), name)


def test_efforts_of_the_user_count_where_no_actuator_drives(chain, configure):
    """An actuator overwrites what the user asks of its own joint, so the gradient there is zero."""
    actuators = {"arm": {**PD["arm"], "joints": ["hinge_0"]}}
    config = configure("featherstone", dt=0.01, requires_grad=True, actuators=actuators)
    with pippin.Simulation(config, prototype=chain(angle=1.0)) as simulation:
        simulation.control.joint_f.assign([5.0, 0.5])
        differentiate(simulation, last_angle, "joint_q")

        gradient = simulation.control.joint_f.grad.numpy()
        expected = differences(simulation, last_angle, "joint_q", simulation.control.joint_f)
    assert gradient[0] == expected[0] == 0.0
    np.testing.assert_allclose(gradient[1], expected[1], rtol=2e-3)


def test_a_component_that_carries_something_is_refused_by_name(chain, configure):
    class Wind:
        @pippin.hookimpl
        def before_substep(self, state):
            pass

    late = {"arm": {**PD["arm"], "delay": {"steps": 2}}}
    matching = {"contact_matching": "latest"}
    tables = {"actuators": late, "collision": matching, "scene": {"ground": True}}
    config = configure("featherstone", requires_grad=True, **tables)
    prototype = chain()
    prototype.add_shape_sphere(1, radius=0.1)
    with pippin.Simulation(config, [Wind()], prototype) as simulation:
        simulation.callbacks.add("after_actuators", lambda state: None, name="push")
        with pytest.raises(pippin.ConfigError) as caught:
            simulation.rollout(1)

    places = [fault.partition(":")[0] for fault in caught.value.faults]
    assert places == ["actuators.arm", "plugins.wind", "callbacks", "collision.contact_matching"]


def test_a_rollout_without_gradients_is_refused(chain, configure):
    with (
        pippin.Simulation(configure("featherstone"), prototype=chain()) as simulation,
        pytest.raises(pippin.ConfigError, match="requires_grad: false"),
    ):
        simulation.rollout(1)


def test_a_solver_without_gradients_is_refused_by_name(chain, configure):
    with pytest.raises(pippin.ConfigError, match="'xpbd' does not support gradients") as caught:
        pippin.Simulation(configure("xpbd", requires_grad=True), prototype=chain())

    assert "'featherstone', 'semi-implicit'" in str(caught.value)


@pytest.mark.parametrize("option", [{"update_mass_matrix_interval": 2}, {"use_tile_gemm": True}])
def test_a_mass_matrix_that_is_kept_is_refused_with_gradients(option, chain, configure):
    solver = {"type": "featherstone", **option}
    with pytest.raises(pippin.ConfigError, match=f"^solver.{next(iter(option))}: .*gradients"):
        pippin.Simulation(configure(solver, requires_grad=True), prototype=chain())


LATE = """
import pippin

tables = {
    "simulation": {"device": "cpu"},
    "scene": {"assets": [{"path": "pkg:newton/examples/assets/cartpole_single_pendulum.usda"}]},
    "solver": {"type": "semi-implicit"},
}
pippin.Simulation(pippin.structure(tables)).close()
tables["simulation"]["requires_grad"] = True
try:
    pippin.Simulation(pippin.structure(tables))
except pippin.ConfigError as error:
    print(error)
"""


def test_gradients_after_a_simulation_without_backward_kernels_are_refused():
    """Warp would give zeros. In this process Newton came first, with them."""
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)

    assert "simulation.requires_grad: Newton was imported without its backward kernels" in done.stdout


def test_a_rollout_whose_contacts_do_not_fit_is_an_error(ball, configure):
    """Its buffers are its own, so `check` would not see them."""
    prototype = ball(height=0.1)
    prototype.add_shape_box(0, hx=0.11, hy=0.11, hz=0.11, cfg=newton.ModelBuilder.ShapeConfig(density=0.0))
    config = configure(requires_grad=True, scene={"ground": True}, collision={"rigid_contact_max": 1})
    with (
        pippin.Simulation(config, prototype=prototype) as simulation,
        pytest.raises(pippin.SimulationError, match=r"^collision.rigid_contact_max: \d contacts did not fit into 1"),
    ):
        simulation.rollout(2)
