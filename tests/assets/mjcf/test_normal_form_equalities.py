"""Equalities that hold a body to itself have no effect, and are left out."""

import pytest

FILE = """<mujoco><worldbody><body name="b" pos="0 0 1"><freejoint/><geom size=".1"/><site name="s"/>
<site name="t" pos=".05 0 0"/></body></worldbody><equality>{}</equality></mujoco>"""


@pytest.mark.parametrize("solver", ["mujoco-native", "featherstone"])
@pytest.mark.parametrize("equality", ['<weld site1="s" site2="t"/>', '<connect site1="t" site2="s"/>'])
def test_an_equality_of_one_body_is_noted_and_left_out(tmp_path, simulate, solver, equality):
    (tmp_path / "ball.xml").write_text(FILE.format(equality))

    with simulate(dt=0.002, assets=[{"path": str(tmp_path / "ball.xml")}], solver=solver) as simulation:
        simulation.step(100)

        assert simulation.state.joint_q.numpy()[2] == pytest.approx(1.0 - 0.5 * 9.81 * 0.2**2, abs=5e-3)
        if solver == "mujoco-native":
            assert not simulation.solver.mj_model.neq
