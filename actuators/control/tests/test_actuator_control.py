"""Inputs of the asset's own actuators: where they go, in which units, and which of them are refused."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
from pippin.solving import RIGID_TREES

INERTIA = 2.0

ARM = """<mujoco><worldbody>
  <body name="upper"><joint name="hip" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="2 2 2"/></body>
  <body name="lower"><joint name="knee" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="2 2 2"/></body>
</worldbody><actuator>
  <position name="hip_servo" joint="hip" kp="100" ctrlrange="-2 0.7"/>
  <velocity name="knee_servo" joint="knee" kv="10"/>{more}
</actuator></mujoco>"""

MOTOR = '<motor joint="hip" gear="3"/>'


class Featherstone:
    """A solver that comes with Newton itself, and has no actuators of assets."""

    def __init__(self, features=RIGID_TREES):
        self.supported_features = features

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)


def arm(more=""):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.default_joint_cfg.armature = 0.0
    builder.add_mjcf(ARM.format(more=more))
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.001,
    capture="require",
    gravity=0.0,
    prototype=arm,
    solver=Featherstone,
    actuators={"arm": {"type": "control", "actuators": [".*"]}},
    options="actuators.arm",
)


@pytest.mark.alone
def test_servos_follow_their_inputs_by_the_law_of_the_file(simulate):
    """Δq̇ = kp u dt / I of a servo of position, kv u dt / I of one of velocity, on joints at rest."""
    with simulate(worlds=2) as simulation:
        group = simulation.actuators["arm"]
        inputs = np.float32([[0.1, 2.0], [0.7, -4.0]])
        group.ctrl.assign(inputs)

        simulation.step()

        found = simulation.state.joint_qd.numpy().reshape(2, 2)
        np.testing.assert_allclose(found, inputs * [100.0, 10.0] * 0.001 / INERTIA, rtol=1e-5)
        assert [label.rpartition("/")[2] for label in group.actuator_labels] == ["hip_servo", "knee_servo"]


def test_inputs_of_the_file_hold_from_the_start_and_can_be_set_by_name(simulate):
    with simulate(worlds=3, ctrl={"hip.*": 0.7, "knee.*": 0.5}) as simulation:
        group = simulation.actuators["arm"]
        first = group.ctrl.numpy().copy()
        group.set("ctrl", -1.0, worlds=[1], actuators="hip_servo")
        simulation.step()

        written = simulation.control.joint_target_q.numpy().reshape(3, 2)[:, 0]

    np.testing.assert_array_equal(first, np.float32([[0.7, 0.5]] * 3))
    np.testing.assert_array_equal(written, np.float32([0.7, -1.0, 0.7]))


def test_without_inputs_of_the_file_those_of_the_model_stay(simulate):
    builder = arm()
    builder.joint_target_q[0] = 0.7
    with simulate(prototype=builder) as simulation:
        np.testing.assert_allclose(simulation.actuators["arm"].ctrl.numpy(), [[0.7, 0.0]])


def test_a_reset_restores_the_inputs_of_its_worlds(simulate):
    with simulate(worlds=2) as simulation:
        group = simulation.actuators["arm"]
        first = group.ctrl.numpy()[1].copy()
        group.set("ctrl", 0.4)
        simulation.reset([1])

        np.testing.assert_allclose(group.get("ctrl").numpy(), [np.full_like(first, 0.4), first])


def test_an_input_that_is_not_finite_is_an_error_with_its_group(simulate):
    with simulate(worlds=2) as simulation:
        simulation.actuators["arm"].ctrl[1].fill_(np.nan)
        simulation.step()

        with pytest.raises(pippin.SimulationError, match=r"actuators\.arm: ctrl of '.*' in world 1 is not finite"):
            simulation.raise_errors()


def test_inputs_beyond_the_range_of_the_asset_are_refused(simulate):
    with simulate() as simulation:
        group = simulation.actuators["arm"]
        with pytest.raises(pippin.ConfigError, match=r"ctrl: 3 is beyond the range of .*hip_servo', -2 to 0.7;"):
            group.set("ctrl", 3.0)
        np.testing.assert_array_equal(group.ctrl.numpy(), 0.0)


ANKLE = {"type": "control", "actuators": ["ankle"]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"actuators": {"arm": ANKLE}},
            r"actuators\.arm\.actuators: no actuator matches 'ankle'.*hip_servo, knee_servo",
        ),
        ({"ctrl": {"hip.*": 1.0}}, r"actuators\.arm\.ctrl: no pattern matches actuator '.*knee_servo'"),
        ({"ctrl": 3.0}, r"actuators\.arm\.ctrl: 3 is beyond the range"),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_stands(simulate, options, message):
    with pytest.raises(pippin.ConfigError, match=message):
        simulate(**options)


def test_an_actuator_beside_the_group_needs_a_solver_with_actuators(simulate):
    with pytest.raises(pippin.ConfigError, match=r"does not support asset_actuators .* used by .*actuator_2"):
        simulate(arm(MOTOR))


@pytest.mark.parametrize("order", [("arm", "legs"), ("legs", "arm")])
def test_an_actuator_has_one_owner_whatever_the_order(simulate, order):
    drive = {"type": "control", "actuators": ["hip_servo"]}
    groups = {name: {"arm": drive, "legs": {**drive, "actuators": [".*"]}}[name] for name in order}
    with pytest.raises(pippin.ConfigError, match=r"another group sets the input of 'hip_servo' already"):
        simulate(actuators=groups)


def servos(builder):
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.add_mjcf(ARM.format(more=""))


CONFORMANCE = conformance.Conformance("actuator", "control", config={"actuators": ["hip.*"]}, prototype=servos)


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
