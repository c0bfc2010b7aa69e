"""Equalities that hold a body to itself have no effect, and are left out; those of sites are as in MuJoCo."""

import mujoco
import numpy as np
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


PAIR = """<mujoco><option integrator="implicitfast"/><worldbody><site name="w" pos=".2 .1 1.2" euler="4 8 9"/>
<body name="p-1" pos="0 0 1"><joint axis="0 1 .3"/><geom size=".05" pos=".2 .1 0"/>
<site name="s" pos=".3 .1 .05" euler="10 20 30"/></body><body name="q" pos=".6 0 1"><freejoint/>
<geom type="box" size=".05 .1 .02" pos=".02 .1 0" euler="3 40 5"/><site name="t" pos="-.2 .03 .02" euler="-40 10 5"/>
</body></worldbody><equality>{}</equality></mujoco>"""


@pytest.mark.parametrize(
    "equality",
    [
        '<connect site1="s" site2="t"/>',
        '<connect site1="t" site2="w" solref=".05 .7"/>',
        '<weld site1="s" site2="t"/>',
        '<weld site1="t" site2="s" solref=".05 .7"/>',
        '<weld site1="w" site2="t"/>',
    ],
)
@pytest.mark.filterwarnings("ignore:.*another joint already connects")
def test_sites_that_are_apart_at_the_start_are_drawn_together_as_by_mujoco(tmp_path, simulate, equality):
    (tmp_path / "pair.xml").write_text(PAIR.format(equality))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "pair.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 100)
    mujoco.mj_kinematics(model, data)

    with simulate(dt=0.002, assets=[{"path": str(tmp_path / "pair.xml")}], solver="mujoco-native") as simulation:
        simulation.step(100)

        assert not simulation.notes
        np.testing.assert_allclose(simulation.state.body_q.numpy()[:2, :3], data.xpos[1:], atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*another joint already connects")
def test_a_solver_with_ties_of_its_own_notes_the_gap(tmp_path, simulate):
    (tmp_path / "pair.xml").write_text(PAIR.format('<connect name="tie" site1="w" site2="t"/>'))

    with simulate(dt=0.002, assets=[{"path": str(tmp_path / "pair.xml")}], solver="xpbd") as simulation:
        (note,) = [each for each in simulation.notes["scene"] if "tie" in each]

    gap = np.linalg.norm(np.subtract([0.6 - 0.2, 0.03, 1.02], [0.2, 0.1, 1.2]))
    assert note == f"pair.xml: equality 'tie': closing of its gap at the start {gap:.6g} → the solver's own"
