"""A DC motor under PD control: the curve of torque against speed, its order, and limits that do not limit."""

import warnings

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_actuator_dc_motor.actuator import DCMotorWarning

SPEEDS = (-20.0, -10.0, -5.0, 0.0, 5.0, 10.0, 15.0, 20.0)
MOTOR = {"saturation_effort": 120.0, "velocity_limit": 10.0, "max_motor_effort": 100.0}


class Still:
    """Keeps the state where it is: what reaches the joints is all that is looked at."""

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)

    @pippin.hookimpl
    def step_solver(self, state_in, state_out):
        state_out.assign(state_in)


def shafts():
    """A hinge at each of the speeds."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for index, speed in enumerate(SPEEDS):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
        joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=f"shaft_{index}", armature=0.0)
        builder.add_articulation([joint])
        builder.joint_qd[-1] = speed
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.01,
    capture="require",
    gravity=0.0,
    prototype=shafts,
    solver=Still,
    actuators={"motor": {"type": "dc-motor", "joints": [".*"], **MOTOR}},
    options="actuators.motor",
)


def applied(simulation, feedforward):
    group = simulation.actuators["motor"]
    group.feedforward.fill_(feedforward)
    simulation.step(2)
    return group.applied_effort.numpy()


def test_the_motor_gives_what_its_speed_allows(simulate):
    expected = {
        1000.0: [100, 100, 100, 100, 60, 0, -60, -100],
        -1000.0: [100, 0, -60, -100, -100, -100, -100, -100],
        30.0: [100, 30, 30, 30, 30, 0, -60, -100],
    }
    with simulate() as simulation:
        for raw, efforts in expected.items():
            np.testing.assert_allclose(applied(simulation, raw), [efforts], atol=1e-4)
            np.testing.assert_array_equal(simulation.actuators["motor"].computed_effort.numpy(), raw)
        assert simulation.program.is_captured


@pytest.mark.alone
def test_the_law_before_the_curve_is_a_pd(simulate):
    with simulate(kp=20.0, kd=1.5, const_effort=2.0) as simulation:
        simulation.actuators["motor"].position_targets.fill_(0.5)
        simulation.step()

        expected = 2.0 + 20.0 * 0.5 - 1.5 * np.array(SPEEDS)
        np.testing.assert_allclose(simulation.actuators["motor"].computed_effort.numpy(), [expected], rtol=1e-5)


def test_clampings_of_the_file_come_after_the_motor(simulate):
    """At -20 rad/s the motor brakes with 100 whatever is asked; a box behind it holds, one before it would not."""
    with simulate(clamping=[{"type": "max-effort", "max_effort": 7.0}]) as simulation:
        np.testing.assert_allclose(applied(simulation, 30.0), [[7, 7, 7, 7, 7, 0, -7, -7]], atol=1e-4)


def test_the_curve_is_set_by_world(simulate):
    with simulate(worlds=2) as simulation:
        group = simulation.actuators["motor"]
        assert group.parameters[:-4] == ("kp", "kd", "const_effort", *MOTOR)
        group.set("velocity_limit", 20.0, worlds=[1])

        found = applied(simulation, 1000.0)

    np.testing.assert_allclose(found[:, SPEEDS.index(10.0)], [0.0, 120.0 * (1.0 - 10.0 / 20.0)], atol=1e-4)


@pytest.mark.parametrize(
    ("limit", "names"),
    [
        ({"shaft_[1-7]": 100.0, "shaft_0": 121.0}, "shaft_0"),
        ({"shaft_[0-6]": 100.0, "shaft_7": {"uniform": [90.0, 130.0]}}, "shaft_7"),
    ],
)
def test_a_limit_above_the_saturation_is_warned_of_by_joint(simulate, limit, names):
    with pytest.warns(DCMotorWarning, match=rf"max_motor_effort: missing or above saturation_effort for {names},"):
        simulate(max_motor_effort=limit).close()


def test_a_missing_limit_is_warned_of(tmp_path):
    motor = {name: value for name, value in MOTOR.items() if name != "max_motor_effort"}
    tables = {
        "simulation": {"device": "cpu"},
        "actuators": {"motor": {"type": "dc-motor", "joints": ["shaft_3"], **motor}},
    }
    with pytest.warns(DCMotorWarning, match="missing or above saturation_effort for shaft_3, "):
        pippin.Simulation(pippin.structure(tables), plugins=[Still()], prototype=shafts()).close()


def test_a_limit_at_the_saturation_is_fine(simulate):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(max_motor_effort=120.0).close()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("saturation_effort", -1.0),
        ("velocity_limit", 0.0),
        ("velocity_limit", {"shaft_0": 1.0, "shaft_1": -1.0}),
        ("max_motor_effort", -1.0),
        ("max_motor_effort", float("nan")),
        ("kp", -1.0),
    ],
)
def test_values_that_make_no_sense_are_refused_where_they_stand(field, value):
    table = {"type": "dc-motor", "joints": [".*"], **MOTOR, field: value}
    with pytest.raises(pippin.ConfigError, match=rf"actuators\.motor\.{field}\b.*finite"):
        pippin.structure({"actuators": {"motor": table}})


@pytest.mark.parametrize("field", ["saturation_effort", "velocity_limit"])
def test_a_motor_without_its_curve_is_refused(field):
    table = {"type": "dc-motor", "joints": [".*"], **{name: 1.0 for name in MOTOR if name != field}}
    with pytest.raises(pippin.ConfigError, match=rf"actuators\.motor\.{field}: missing"):
        pippin.structure({"actuators": {"motor": table}})


CONFORMANCE = conformance.Conformance(
    "actuator",
    "dc-motor",
    config={"kp": 20.0, "saturation_effort": 30.0, "max_motor_effort": 20.0, "velocity_limit": 20.0},
)


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
