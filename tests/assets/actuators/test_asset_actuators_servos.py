"""Claims that the asset's own servos start with the target of MuJoCo: the position that the file calls 0."""

import mujoco
import numpy as np
import pytest

REF, KP = 0.5, 20.0

ARM = f"""<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody>
<body><joint name="hinge" axis="0 1 0" ref="{REF}"/><geom size=".05" mass="1" pos=".2 0 0"/>
<body pos=".3 0 0"><joint name="slide" type="slide" axis="0 0 1" ref="-.2"/><geom size=".05" mass="1"/></body></body>
</worldbody><actuator><position name="hip" joint="hinge" kp="{KP}"/>
<position name="lift" joint="slide" kp="30"/></actuator></mujoco>"""


@pytest.fixture
def arm(simulate, tmp_path):
    """Return a function that builds an arm, at rest at its reference, with servos of its own."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM)

    def arm(solver="mujoco-native", groups=None, **asset):
        assets = [{"path": str(path), **asset}]
        return simulate(dt=0.002, assets=assets, worlds=2, solver=solver, actuators=groups or {})

    return arm


def targets(simulation):
    return simulation.control.joint_target_q.numpy().reshape(2, 2)


def test_a_servo_pulls_from_the_reference_to_zero_as_in_mujoco(arm):
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)

    with arm() as simulation:
        simulation.step()
        speeds = simulation.state.joint_qd.numpy().reshape(2, 2)

    assert data.actuator_force[0] == -KP * REF  # kp (0 - qpos) at the start
    np.testing.assert_allclose(speeds, [data.qvel] * 2, rtol=1e-4)  # inertias in single precision


@pytest.mark.parametrize("asset", [{}, {"normalise": False}, {"joint_positions": {"hinge": 0.3}}])
def test_every_solver_gets_the_target(arm, asset):
    with arm("featherstone", **asset) as simulation:
        np.testing.assert_allclose(targets(simulation), [[-REF, 0.2]] * 2)
        assert "stay at ctrl = 0" in simulation.notes["scene"][-1]


@pytest.mark.parametrize("asset", [{}, {"normalise": False}])
def test_a_scale_is_one_of_the_reference_of_a_slide_too(arm, asset):
    with arm("featherstone", scale=2.0, **asset) as simulation:
        np.testing.assert_allclose(targets(simulation), [[-REF, 2.0 * 0.2]] * 2)


def test_a_control_group_without_inputs_starts_at_zero(arm):
    with arm("featherstone", {"own": {"type": "control", "actuators": [".*"]}}) as simulation:
        simulation.step()

        np.testing.assert_array_equal(simulation.actuators["own"].ctrl.numpy(), 0.0)
        np.testing.assert_allclose(targets(simulation), [[-REF, 0.2]] * 2)


def test_a_group_of_the_user_holds_the_start_pose(arm):
    group = {"type": "solver-pd", "joints": ["hinge"], "kp": 5.0, "kd": 0.0}
    with arm("featherstone", {"own": group}, joint_positions={"hinge": 0.3}) as simulation:
        simulation.step()

        np.testing.assert_allclose(targets(simulation), [[0.3, 0.2]] * 2)
