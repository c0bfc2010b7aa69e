"""Claims about import reports: what differs from MuJoCo's own model is told, and another mechanism is refused."""

import pippin
import pytest
from pippin.errors import ConfigError

ARM = """<mujoco><option {option}/><worldbody><body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0"/>
<geom size=".05" mass="1" pos=".1 0 0"/></body></worldbody>{rest}</mujoco>"""

FLEX = '<deformable><flex name="f" dim="1" body="arm arm" vertex="0 0 0 .1 0 0" element="0 1"/></deformable>'


@pytest.fixture
def arm(simulate, tmp_path):
    """Return a function that builds an arm with an option or other parts."""

    def arm(option: str = "", rest: str = "", solver: str = "mujoco-native", **asset) -> pippin.Simulation:
        (tmp_path / "arm.xml").write_text(ARM.format(option=option, rest=rest))
        return simulate(assets=[{"path": str(tmp_path / "arm.xml"), **asset}], solver=solver)

    return arm


def test_a_number_that_differs_is_a_note_with_both_values(arm):
    with arm('solver="PGS" iterations="7" cone="elliptic"') as simulation:
        [report] = simulation.import_reports

    assert [str(each) for each in report.differences if each.field == "solver"] == [
        "option: solver pgs → newton (MuJoCo Warp has no PGS, and every solver finds the same solution)"
    ]
    assert not report.notes()


def test_a_placed_asset_does_not_differ_for_its_place(arm):
    with arm(position=[1.0, 2.0, 3.0], rotation=[0.0, 0.0, 0.70710678, 0.70710678]) as simulation:
        notes = simulation.notes

    assert notes == {}


@pytest.mark.parametrize("solver", ["mujoco-native", "featherstone"])
def test_a_part_that_no_importer_reads_is_refused_by_name(arm, solver):
    with pytest.raises(ConfigError, match=r"another mechanism than in MuJoCo: model: flexes 1 → 0;.*\[\"flexes\"\]"):
        arm(rest=FLEX, solver=solver)


def test_a_lost_part_that_is_accepted_by_name_is_a_note(arm):
    with arm(rest=FLEX, accept_lost=["flexes"]) as simulation:
        notes = simulation.notes

    assert notes["scene"] == ["arm.xml: model: flexes 1 → 0"]


def test_what_other_solvers_lose_is_a_note_with_both_values(arm):
    with arm('viscosity="0.1"', solver="featherstone") as simulation:
        [report] = simulation.import_reports

    assert report.notes() == ["arm.xml: option: viscosity 0.1 → 0"]


def test_a_placed_asset_does_not_differ_for_its_place_with_other_solvers(arm):
    with arm(position=[1.0, 2.0, 3.0], rotation=[0.6, 0.0, 0.0, 0.8], solver="featherstone") as simulation:
        [report] = simulation.import_reports

    assert report.differences == ()


def test_a_pair_that_only_mujoco_lets_collide_is_refused_by_other_solvers(arm):
    ball = '<worldbody><body pos="0 0 3"><joint/><geom name="b" size=".1" mass="1" contype="0" conaffinity="0"/></body>'
    rest = f'{ball}<geom name="f" type="plane" size="1 1 1"/></worldbody><contact><pair geom1="b" geom2="f"/></contact>'

    with pytest.raises(ConfigError, match=r"pair geom 'f' and geom 'b': can collide yes → no;.*\[\"pair\"\]"):
        arm(rest=rest, solver="featherstone")


@pytest.mark.parametrize("option", ['gravity="0 0 -1.62"', 'gravity="0 0 -1.62" timestep="0.001"'])
def test_the_gravity_of_the_file_holds_if_the_scene_gives_none(arm, option):
    with arm(option) as simulation:
        gravity = simulation.model.gravity.numpy()

    assert gravity[0, 2] == pytest.approx(-1.62)
