"""The default of one element of actuators says nothing about another one."""

import mujoco
import numpy as np
import pippin
import pytest
from pippin.assets.fidelity import compare

FILE = """<mujoco><default>{default}</default><worldbody><body name="b" euler="10 20 30"><joint name="j" axis="1 0 1"/>
<geom size=".08" pos=".1 0 0"/></body></worldbody><actuator>{actuator}</actuator></mujoco>"""

DC_MOTOR = '<dcmotor name="a" joint="j" motorconst="0.147" resistance="2.57" {more}/>'


def built(tmp_path, text):
    (tmp_path / "motor.xml").write_text(text)
    tables = {
        "simulation": {"device": "cpu"},
        "scene": {"assets": [{"path": str(tmp_path / "motor.xml")}]},
        "solver": {"type": "mujoco-native"},
    }
    return pippin.Simulation(pippin.structure(tables))


@pytest.mark.parametrize(
    "default", ["", "<velocity/>", "<position/>", '<velocity kv="3"/>', "<intvelocity/>", "<cylinder/>"]
)
@pytest.mark.parametrize("more", ["", 'input="pos"', 'input="vel"'])
def test_a_dc_motor_keeps_its_input_and_its_back_emf(tmp_path, default, more):
    text = FILE.format(default=default, actuator=DC_MOTOR.format(more=more))
    theirs = mujoco.MjModel.from_xml_string(text)
    with built(tmp_path, text) as simulation:
        ours = simulation.solver.mj_model

        forces = []
        for model in (theirs, ours):
            data = mujoco.MjData(model)
            data.qvel[:] = 10.0
            mujoco.mj_forward(model, data)
            forces.append(float(data.qfrc_actuator[0]))

    np.testing.assert_array_equal(ours.actuator_ctrlspec, theirs.actuator_ctrlspec)
    assert forces[1] == pytest.approx(forces[0], rel=1e-5)
    assert forces[0] == pytest.approx(-10.0 * 0.147**2 / 2.57, rel=1e-5) or more


@pytest.mark.parametrize("actuator", ["intvelocity", "cylinder"])
def test_an_actuator_with_a_state_is_built_under_a_default_dc_motor(tmp_path, actuator):
    text = FILE.format(
        default='<dcmotor motorconst=".2" resistance="1"/>', actuator=f'<{actuator} name="a" joint="j"/>'
    )
    with built(tmp_path, text) as simulation:
        found = compare(mujoco.MjModel.from_xml_string(text), simulation.solver.mj_model)

    assert not [each for each in found if each.kind == "actuator"]


def test_another_input_of_a_dc_motor_is_a_difference(tmp_path):
    theirs, ours = (
        mujoco.MjModel.from_xml_string(FILE.format(default="", actuator=DC_MOTOR.format(more=more)))
        for more in ("", 'input="vel"')
    )

    assert any(each.field == "ctrlspec" for each in compare(theirs, ours))
