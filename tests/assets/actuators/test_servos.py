"""Solvers that read joints alone get what servos of a file have besides their law."""

import numpy as np
import pippin
import pytest
from pippin.views import ViewError

ARM = """<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><body name="b">
  <joint name="j" axis=".6 0 .8" ref=".1"/><geom type="box" size=".1 .06 .04" pos=".2 .05 .1" mass="1"/>
</body></worldbody><actuator>
  <position name="a" joint="j" kp="20" kv="1" {more}/>
</actuator></mujoco>"""


@pytest.fixture
def arm(tmp_path):
    def build(more, solver="featherstone", **tables):
        path = tmp_path / "arm.xml"
        inertia = "" if solver == "mujoco" else 'armature=".2" damping=".5" '  # MuJoCo Warp has neither at a servo
        path.write_text(ARM.format(more=inertia + more))
        scene = {"worlds": 2, "assets": [{"path": str(path)}]}
        simulation = {"device": "cpu", "dt": 0.001}
        return pippin.Simulation(
            pippin.structure({"simulation": simulation, "scene": scene, "solver": {"type": solver}, **tables})
        )

    return build


def test_a_joint_gets_rotor_inertia_and_damping_of_its_servo(arm):
    with arm("") as simulation:
        np.testing.assert_allclose(simulation.model.joint_armature.numpy(), 0.2)
        np.testing.assert_allclose(simulation.model.joint_damping.numpy(), 0.5)


def test_a_limit_of_force_is_that_of_the_joint(arm):
    with arm('forcerange="-0.5 0.5"', "steel") as simulation:
        np.testing.assert_allclose(simulation.model.joint_effort_limit.numpy(), 0.5)


def test_a_limit_of_force_is_refused_by_name_where_drives_have_none(arm):
    with pytest.raises(pippin.ConfigError, match=r"'featherstone' does not support effort_limits .* used by .*/j"):
        arm('forcerange="-0.5 0.5"')


def test_a_target_of_a_view_beyond_the_range_of_a_servo_is_refused(arm):
    with arm('ctrlrange="-0.3 0.3"') as simulation:
        view = simulation.view.articulations("*")
        view.set_dof_position_targets(0.2)
        with pytest.raises(ViewError, match=r"beyond the range of the control of the asset's own servo at '.*/j'"):
            view.set_dof_position_targets([[0.2], [0.21]])

        np.testing.assert_allclose(simulation.control.joint_target_q.numpy(), 0.2)


@pytest.mark.parametrize("value", [0.21, -0.41])
def test_a_target_written_beyond_the_range_of_a_servo_is_found_by_check(value, arm):
    with arm('ctrlrange="-0.3 0.3"') as simulation:
        for allowed in (0.2, -0.4):
            simulation.control.joint_target_q.fill_(allowed)
            simulation.raise_errors()
        simulation.control.joint_target_q.fill_(value)

        with pytest.raises(pippin.ConfigError, match=r"^control.joint_target_q: beyond the range of .* at '.*/j'"):
            simulation.raise_errors()


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
def test_a_target_written_beyond_the_range_acts_as_its_bound_in_mujoco(solver, arm):
    reached = []
    for target in (0.2, 0.9):
        with arm('ctrlrange="-0.3 0.3"', solver) as simulation:
            simulation.control.joint_target_q.fill_(target)
            simulation.step(100)
            simulation.raise_errors()
            reached.append(simulation.state.joint_q.numpy().copy())

    np.testing.assert_array_equal(*reached)
    assert (abs(reached[0]) > 0.01).all()


def test_inputs_of_a_group_beyond_the_range_of_a_servo_act_as_its_bound(arm):
    group = {"type": "control", "actuators": ["a"]}
    with arm('ctrlrange="-0.3 0.3"', actuators={"g": group}) as simulation:
        simulation.actuators["g"].ctrl.fill_(1.0)
        simulation.step()
        simulation.raise_errors()

        np.testing.assert_allclose(simulation.control.joint_target_q.numpy(), 0.2, rtol=1e-6)


def test_mujoco_keeps_the_ranges_itself(arm):
    with arm('ctrlrange="-0.3 0.3" forcerange="-0.5 0.5"', "mujoco-native") as simulation:
        simulation.view.articulations("*").set_dof_position_targets(0.9)

        np.testing.assert_allclose(simulation.model.joint_armature.numpy(), 0.0)
        assert simulation.model.joint_effort_limit.numpy().min() > 1e5
