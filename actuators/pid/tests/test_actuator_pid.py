"""PID control of joints: the integral, its limit, what a reset and a checkpoint make of it. The solver is made here."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp


class Featherstone:
    """A solver that comes with Newton itself, or one that keeps the state where it is."""

    def __init__(self, is_still=True):
        self.is_still = is_still

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)

    @pippin.hookimpl
    def step_solver(self, solver, state_in, state_out, control, contacts, dt):
        if self.is_still:
            state_out.assign(state_in)
        else:
            solver.step(state_in, state_out, control, contacts, dt)


def hinge():
    """A hinge of 1 kg·m² that turns at 0.5 rad/s, without gravity."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
    builder.add_articulation([builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label="hinge", armature=0.0)])
    builder.joint_qd[:] = [0.5]
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.1,
    capture="require",
    gravity=0.0,
    prototype=hinge,
    solver=Featherstone,
    actuators={"motor": {"type": "pid", "joints": [".*"]}},
    options="actuators.motor",
)


def efforts(simulation, count):
    """Return the effort of each of some steps, shape [count, world_count], with the target at 1 rad."""
    group, found = simulation.actuators["motor"], []
    group.position_targets.fill_(1.0)
    for _ in range(count):
        simulation.step()
        found.append(group.computed_effort.numpy()[:, 0].copy())
    return np.array(found)


GAINS = {"kp": 10.0, "ki": 100.0, "kd": 1.0}


@pytest.mark.parametrize(
    ("limit", "expected", "integral"),
    [({"integral_max": 0.15}, [19.5, 24.5, 24.5, 24.5], 0.15), ({}, [19.5, 29.5, 39.5, 49.5], 0.4)],
)
def test_the_integral_grows_before_it_acts_and_stops_at_its_limit(simulate, limit, expected, integral):
    """kp e + ki I + kd (0 - q̇) with e = 1, q̇ = 0.5 and steps of 0.1 s: I is 0.1, 0.2 and so on, or at most 0.15."""
    with simulate(**GAINS, **limit) as simulation:
        found = efforts(simulation, 4)

        np.testing.assert_allclose(found[:, 0], expected, atol=1e-4)
        np.testing.assert_allclose(simulation.actuators["motor"].drive_state.integral.numpy(), integral, atol=1e-6)
        assert simulation.program.is_captured


@pytest.mark.alone
def test_a_reset_empties_the_integrals_of_its_worlds(simulate):
    with simulate(worlds=3, **GAINS) as simulation:
        efforts(simulation, 3)
        simulation.reset([1])

        np.testing.assert_allclose(efforts(simulation, 1), [[49.5, 19.5, 49.5]], atol=1e-4)


def test_a_resumed_run_has_the_integral_that_was_saved(simulate, tmp_path):
    with simulate(worlds=2, **GAINS) as simulation:
        efforts(simulation, 3)
        simulation.reset([1])
        simulation.save(tmp_path / "state.ckpt")
        expected = efforts(simulation, 2)
    with pippin.Simulation.load(tmp_path / "state.ckpt", [Featherstone()], hinge()) as resumed:
        np.testing.assert_array_equal(efforts(resumed, 2), expected)


def test_the_integral_leaves_no_error_at_rest_under_a_load(simulate):
    """A load of -5 N·m holds a PD off by 5 / kp = 0.05 rad; the slowest root with the integral is -3.4 1/s."""
    gains = {"kp": 100.0, "kd": 20.0, "const_effort": -5.0, "dt": 0.004, "solver": Featherstone(is_still=False)}
    rests = []
    for ki in (0.0, 200.0):
        with simulate(ki=ki, **gains) as simulation:
            simulation.actuators["motor"].position_targets.fill_(1.0)
            simulation.step(1000)
            rests.append(simulation.state.joint_q.numpy()[0])

    np.testing.assert_allclose(rests, [0.95, 1.0], atol=2e-5)


def test_every_parameter_is_set_by_world_and_acts(simulate):
    with simulate(worlds=2, **GAINS, integral_max=1.0) as simulation:
        group = simulation.actuators["motor"]
        assert group.parameters[:-4] == ("kp", "ki", "kd", "integral_max", "const_effort")
        simulation.step()  # the target is where the hinge is: I stays zero
        for name, value in (("kp", 20.0), ("ki", 200.0), ("kd", 2.0), ("integral_max", 0.05), ("const_effort", 7.0)):
            group.set(name, value, worlds=[1])

        np.testing.assert_allclose(efforts(simulation, 1), [[19.5, 20.0 + 200.0 * 0.05 - 2.0 * 0.5 + 7.0]], atol=1e-4)


def test_a_range_is_drawn_for_each_world(simulate):
    with simulate(worlds=4, kp=0.0, ki={"uniform": [50.0, 150.0]}) as simulation:
        ki = simulation.actuators["motor"].get("ki").numpy()[:, 0].copy()

        np.testing.assert_allclose(efforts(simulation, 1)[0], 0.1 * ki, rtol=1e-5)
        assert len(set(ki)) == 4


@pytest.mark.parametrize("field", ["kp", "ki", "kd", "integral_max"])
@pytest.mark.parametrize("value", [-1.0, {"hinge": -1.0}, {"uniform": [-1.0, 1.0]}])
def test_a_negative_gain_is_refused_where_it_stands(simulate, field, value):
    with pytest.raises(pippin.ConfigError, match=rf"actuators\.motor\.{field}\b.*must be finite and >= 0"):
        simulate(**{field: value})


@pytest.mark.parametrize("field", ["kp", "ki", "kd", "integral_max", "const_effort"])
def test_a_parameter_that_is_not_finite_is_refused(field):
    with pytest.raises(pippin.ConfigError, match=rf"actuators\.motor\.{field}: expected a finite number, got nan"):
        pippin.structure({"actuators": {"motor": {"type": "pid", "joints": [".*"], field: float("nan")}}})


CONFORMANCE = conformance.Conformance("actuator", "pid", config={"kp": 20.0, "ki": 5.0, "kd": 1.0})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
