"""Servos: their motors, their library, and friction that holds joints still."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_actuator_servo.library import read_library

STEP = 0.005  # [s]
MOTOR = {"kt": 1.6, "resistance": 4.0, "voltage": 12.0, "gain": 0.2, "kp": 30.0, "max_duty": 0.9}
INERTIA = 0.02  # of a shaft about its joint [kg·m²]
POSITIONS = np.array([0.0, 0.2, -0.2, 1.0], dtype=np.float32)
VELOCITIES = np.array([0.0, 1.5, -2.0, 5.0], dtype=np.float32)


class Featherstone:
    """A solver that comes with Newton itself."""

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)


def shafts(positions=POSITIONS, velocities=VELOCITIES):
    """Hinges through the centres of mass of their links, so that gravity does not turn them."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for index, (position, velocity) in enumerate(zip(positions, velocities, strict=True)):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(INERTIA)))
        joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=f"shaft_{index}", armature=0.0)
        builder.add_articulation([joint])
        builder.joint_q[-1], builder.joint_qd[-1] = float(position), float(velocity)
    return builder


def arm():
    """Two links that gravity pulls down, horizontal at first."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    upper = builder.add_link(mass=0.5, com=wp.vec3(0.1, 0.0, 0.0), inertia=wp.diag(wp.vec3(1e-3)))
    lower = builder.add_link(mass=0.3, com=wp.vec3(0.1, 0.0, 0.0), inertia=wp.diag(wp.vec3(1e-3)))
    end = wp.transform(wp.vec3(0.2, 0.0, 0.0), wp.quat_identity())
    axis = {"axis": (0.0, 1.0, 0.0), "armature": 0.0}
    shoulder = builder.add_joint_revolute(-1, upper, label="shoulder", **axis)
    elbow = builder.add_joint_revolute(upper, lower, parent_xform=end, label="elbow", **axis)
    builder.add_articulation([shoulder, elbow])
    return builder


pytestmark = pytest.mark.simulation(
    dt=STEP,
    prototype=shafts,
    solver=Featherstone,
    actuators={"servos": {"type": "servo", "joints": [".*"], **MOTOR}},
    options="actuators.servos",
)


@pytest.mark.alone
def test_the_duty_follows_the_error_within_its_limits(simulate):
    """τ = kt (V d - kt q̇) / R with the duty d = g kp (q* - q), limited to ±max_duty; to a float's rounding."""
    duties = np.clip(0.2 * 30.0 * (0.1 - POSITIONS), -0.9, 0.9)
    with simulate() as simulation:
        group = simulation.actuators["servos"]
        group.position_targets.fill_(0.1)
        simulation.step()

        expected = 1.6 * (12.0 * duties - 1.6 * VELOCITIES) / 4.0
        np.testing.assert_allclose(group.applied_effort.numpy()[0], expected, rtol=1e-5, atol=1e-6)
        assert (np.abs(duties) == 0.9).sum() == 2


def test_the_current_is_limited_in_both_modes(simulate):
    """i = (V d - kt q̇) / R, or the command g kp (q* - q) - c √kp q̇, within ±0.5 A; ±V d / R - kt q̇ / R bounds it."""
    for mode, factor in (("voltage", None), ("current", 0.1)):
        command = 0.2 * 30.0 * (0.1 - POSITIONS)
        free = (12.0 * np.clip(command, -0.9, 0.9) - 1.6 * VELOCITIES) / 4.0
        if factor:
            reach = 12.0 * 0.9
            low, high = (-reach - 1.6 * VELOCITIES) / 4.0, (reach - 1.6 * VELOCITIES) / 4.0
            free = np.clip(command - factor * np.sqrt(30.0) * VELOCITIES, low, high)
        with simulate(mode=mode, current_limit=0.5, **({"damping_factor": factor} if factor else {})) as simulation:
            group = simulation.actuators["servos"]
            group.position_targets.fill_(0.1)
            simulation.step()

            np.testing.assert_allclose(group.applied_effort.numpy()[0], 1.6 * np.clip(free, -0.5, 0.5), atol=2e-6)


def test_the_target_moves_at_its_speed(simulate):
    """From the position of the joint, v h further in each step: duty = g kp v h n at a joint that stands still."""
    with simulate(target_speed=0.5, kt=1e-6, voltage=1e6) as simulation:
        group = simulation.actuators["servos"]
        group.position_targets.fill_(10.0)
        for count in (1, 2, 3):
            simulation.step()
            moved = 0.5 * STEP * count
            expected = 1e-6 * 1e6 * 0.2 * 30.0 * moved / 4.0
            assert group.applied_effort.numpy()[0, 0] == pytest.approx(expected, rel=0.01)
        simulation.reset()
        group.position_targets.fill_(10.0)
        simulation.step()

        assert group.applied_effort.numpy()[0, 0] == pytest.approx(0.5 * STEP * 1.5, rel=0.01)


def test_the_supply_falls_by_the_current_of_its_world(simulate):
    """Stalled shafts at full duty: i = V d / R each in the first step, and then V = V0 - Rb Σ d i, at least 9 V."""
    still = {"prototype": lambda: shafts(np.zeros(2), np.zeros(2)), "armature": 1e6}
    for resistance, voltage in ((0.2, 12.0 - 0.2 * 2.0 * 0.9 * 2.7), (1.0, 9.0)):
        with simulate(**still, supply={"resistance": resistance, "minimum": 9.0}) as simulation:
            group = simulation.actuators["servos"]
            group.position_targets.fill_(10.0)
            simulation.step(2)

            np.testing.assert_allclose(group.applied_effort.numpy(), 1.6 * 0.9 * voltage / 4.0, rtol=1e-5)


@pytest.mark.alone
def test_an_unloaded_servo_turns_at_its_no_load_speed(simulate):
    """At full duty d the torque kt (V d - kt q̇) / R equals the friction kc + kv q̇."""
    friction = {"type": "m1", "kc": 0.1, "kv": 0.05}
    with simulate(armature=0.01, friction=friction) as simulation:
        simulation.actuators["servos"].position_targets.fill_(1e4)
        simulation.step(600)

        speed = (1.6 * 12.0 * 0.9 / 4.0 - 0.1) / (1.6**2 / 4.0 + 0.05)
        np.testing.assert_allclose(simulation.state.joint_qd.numpy(), speed, rtol=1e-4)


HOLDING = {"shoulder": 1.5, "elbow": 0.4}
"""Dry friction above the torques of gravity, 1.37 and 0.29 N·m [N·m]."""


@pytest.mark.slow
@pytest.mark.parametrize("capture", ["require", "off"])
def test_friction_above_the_load_holds_a_robot_still(simulate, capture):
    """Gravity turns neither joint by 1e-4 rad in five seconds, and below its torque it does."""
    friction = {"type": "m1", "kc": HOLDING, "kv": 0.0}
    with simulate(arm, kp=0.0, worlds=2, friction=friction, capture=capture) as simulation:
        simulation.actuators["servos"].set("friction.kc", 0.2, worlds=[1])
        simulation.step(1000)

        held, fallen = simulation.state.joint_q.numpy().reshape(2, 2)
        assert np.abs(held).max() < 1e-4
        assert np.abs(fallen).max() > 0.5
        gravity = [9.81 * (0.5 * 0.1 + 0.3 * 0.3), 9.81 * 0.3 * 0.1]
        effort = simulation.actuators["servos"].friction_effort.numpy()[0]
        np.testing.assert_allclose(np.abs(effort), gravity, rtol=1e-3)


@pytest.mark.slow
def test_recorded_and_eager_steps_give_the_same_bits(simulate):
    friction = {"type": "m2", "kc": 0.05, "kv": 0.01, "kcs": 0.1, "vs": 0.5, "alpha": 1.5}
    found = []
    for capture in ("require", "off"):
        with simulate(arm, friction=friction, capture=capture) as simulation:
            simulation.actuators["servos"].position_targets.fill_(0.4)
            simulation.step(150)
            found.append(simulation.state.joint_q.numpy().copy())

    np.testing.assert_array_equal(*found)


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("model", read_library())
def test_each_servo_of_the_library_is_stable_at_its_own_gain(simulate, model):
    """It reaches a target 0.5 rad away, up to its friction, and rests there."""
    gain = {"kp": 20.0} if model.startswith("erob") else {}
    options = dict.fromkeys(MOTOR) | {"model": model} | gain
    with simulate(lambda: shafts(np.zeros(1), np.zeros(1)), **options) as simulation:
        simulation.actuators["servos"].position_targets.fill_(0.5)
        simulation.step(2000)

        assert abs(simulation.state.joint_q.numpy()[0] - 0.5) < 0.3
        assert abs(simulation.state.joint_qd.numpy()[0]) < 1e-5


FRICTION = {"type": "m1", "kc": 0.1, "kv": 0.02}
CONFORMANCE = conformance.Conformance("actuator", "servo", config={**MOTOR, "friction": FRICTION})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


def test_two_groups_with_friction_on_one_robot_are_refused(simulate):
    friction = {"type": "m1", "kc": 0.1, "kv": 0.0}
    servos = {"type": "servo", **MOTOR, "friction": friction}
    groups = {name: {**servos, "joints": [name]} for name in ("shoulder", "elbow")}

    with pytest.raises(pippin.ConfigError, match=r"friction: servos of 'shoulder' .*into one group"):
        simulate(arm, options="", actuators=groups)
