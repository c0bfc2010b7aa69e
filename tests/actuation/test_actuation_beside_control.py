"""Drives of a group beside actuators of the asset's own file: each acts on its joint, and none on that of the other."""

import newton
import numpy as np
import pippin
import pytest

INERTIA, DT, SPEED = 2.0, 0.001, 0.5

ARM = """<mujoco><worldbody>
  <body name="upper"><joint name="hip" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="2 2 2"/></body>
  <body name="lower"><joint name="knee" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="2 2 2"/></body>
</worldbody><actuator>
  <position name="hip_servo" joint="hip" kp="100"/><velocity name="knee_servo" joint="knee" kv="10"/>
</actuator></mujoco>"""


def arm():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.default_joint_cfg.armature = 0.0
    builder.add_mjcf(ARM)
    builder.joint_qd[1] = SPEED
    return builder


OWN = {"type": "control", "actuators": ["hip_servo"]}
DRIVES = {
    "solver-pd": {"type": "solver-pd", "joints": ["knee"], "kp": 50.0, "kd": 5.0},
    "pd": {"type": "pd", "joints": ["knee"], "kp": 50.0, "kd": 5.0},
}

pytestmark = pytest.mark.simulation(dt=DT, worlds=2, gravity=0.0, prototype=arm)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("kind", DRIVES)
@pytest.mark.parametrize("solver", ["featherstone", "mujoco", "mujoco-native"])
def test_each_acts_on_its_own_joint_alone(simulate, solver, kind):
    """Δq̇ = kp u dt / I of the hip's servo, (kp q* - kd q̇) dt / I of the knee's drive; the knee's servo is off."""
    inputs, targets = np.float32([[0.1], [-0.3]]), np.float32([[0.4], [0.2]])
    with simulate(solver=solver, actuators={"own": OWN, "drive": DRIVES[kind]}) as simulation:
        simulation.actuators["own"].ctrl.assign(inputs)
        simulation.actuators["drive"].position_targets.assign(targets)

        simulation.step()

        gained = simulation.state.joint_qd.numpy().reshape(2, 2) - [0.0, SPEED]
    expected = np.hstack([100.0 * inputs, 50.0 * targets - 5.0 * SPEED]) * DT / INERTIA
    np.testing.assert_allclose(gained, expected, rtol=5e-3)


@pytest.mark.parametrize("order", [("own", "drive"), ("drive", "own")])
@pytest.mark.parametrize("kind", DRIVES)
def test_two_groups_on_one_joint_are_refused(simulate, kind, order):
    tables = {"own": OWN, "drive": {**DRIVES[kind], "joints": ["hip"]}}

    with pytest.raises(pippin.ConfigError, match=r"another group (sets the input|drives a joint) of 'hip_servo'"):
        simulate(solver="featherstone", actuators={name: tables[name] for name in order})
