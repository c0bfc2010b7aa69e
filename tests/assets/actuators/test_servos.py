"""Solvers that read joints alone get what servos of a file have besides their law."""

import numpy as np
import pippin
import pytest
from pippin.views import ViewError

ARM = """<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><body name="b">
  <joint name="j" axis=".6 0 .8" ref=".1"/><geom type="box" size=".1 .06 .04" pos=".2 .05 .1" mass="1"/>
</body></worldbody><actuator>
  <position name="a" joint="j" kp="20" kv="1" armature=".2" damping=".5" {more}/>
</actuator></mujoco>"""


@pytest.fixture
def arm(tmp_path):
    def build(more, solver="featherstone", **tables):
        path = tmp_path / "arm.xml"
        path.write_text(ARM.format(more=more))
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


def test_inputs_of_a_group_beyond_the_range_of_a_servo_act_as_its_bound(arm):
    group = {"type": "control", "actuators": ["a"]}
    with arm('ctrlrange="-0.3 0.3"', actuators={"g": group}) as simulation:
        simulation.actuators["g"].ctrl.fill_(1.0)
        simulation.step()

        np.testing.assert_allclose(simulation.control.joint_target_q.numpy(), 0.2, rtol=1e-6)


def test_mujoco_keeps_the_ranges_itself(arm):
    with arm('ctrlrange="-0.3 0.3" forcerange="-0.5 0.5"', "mujoco-native") as simulation:
        simulation.view.articulations("*").set_dof_position_targets(0.9)

        np.testing.assert_allclose(simulation.model.joint_armature.numpy(), 0.0)
        assert simulation.model.joint_effort_limit.numpy().min() > 1e5
