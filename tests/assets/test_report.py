"""Claims about import reports: what differs from MuJoCo's own model is told, and another mechanism is refused."""

import mujoco
import numpy as np
import pippin
import pytest
from pippin.errors import ConfigError

ARM = """<mujoco><option {option}/><worldbody><body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0"/>
<geom size=".05" mass="1" pos=".1 0 0"/></body></worldbody>{rest}</mujoco>"""

FLEX = '<deformable><flex name="f" dim="1" body="arm arm" vertex="0 0 0 .1 0 0" element="0 1"/></deformable>'


@pytest.fixture
def arm(simulate, tmp_path):
    """Return a function that builds an arm with an option or other parts."""

    def arm(
        option: str = "", rest: str = "", solver: str = "mujoco-native", dt: float = 0.002, **asset
    ) -> pippin.Simulation:
        (tmp_path / "arm.xml").write_text(ARM.format(option=option, rest=rest))
        return simulate(assets=[{"path": str(tmp_path / "arm.xml"), **asset}], solver=solver, dt=dt)

    return arm


def test_a_number_that_differs_is_a_note_with_both_values(arm):
    with arm('solver="PGS" iterations="7" cone="elliptic"', solver="mujoco") as simulation:
        [report] = simulation.import_reports

    assert [str(each) for each in report.differences if each.field == "solver"] == [
        "option: solver pgs → newton (only 'mujoco-native' has PGS, and every solver looks for the same solution)"
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


PLANE = """<mujoco><default><default class="slippery"><geom friction=".01" condim="1"/></default></default><worldbody>
<body name="ramp" pos=".1 .2 .3" euler="0 20 0" childclass="slippery">
<geom type="plane" size="1 1 .1" pos="0 0 .1"/></body>
<body name="ball" pos=".1 .2 .515"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco", "xpbd"])
def test_a_plane_of_a_fixed_body_is_one_of_the_world(simulate, tmp_path, solver):
    """Newton's MuJoCo solver refuses planes of bodies; MuJoCo lets those of fixed bodies collide as the world's."""
    (tmp_path / "ramp.xml").write_text(PLANE)
    theirs = mujoco.MjModel.from_xml_string(PLANE)
    data = mujoco.MjData(theirs)
    mujoco.mj_step(theirs, data, 50)
    mujoco.mj_kinematics(theirs, data)

    with simulate(assets=[{"path": str(tmp_path / "ramp.xml")}], solver=solver, dt=0.002, decimation=50) as simulation:
        simulation.step()
        place, notes = simulation.state.body_q.numpy()[-1, :3], simulation.notes

    assert notes == {}
    np.testing.assert_allclose(place, data.xpos[-1], atol=1e-5 if solver != "xpbd" else 0.05)


@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco"])
def test_sleep_that_a_file_asks_for_is_noted_where_nothing_sleeps(arm, solver):
    with arm(rest='<option><flag sleep="enable"/></option>', solver=solver) as simulation:
        notes = simulation.notes

    assert notes["scene"] == ["arm.xml: option: flag sleep yes → no"]


@pytest.mark.parametrize(("dt", "is_noted"), [(0.02, False), (0.002, True)], ids=["the file's", "shorter"])
def test_a_step_that_changes_the_stiffness_of_constraints_is_noted(arm, dt, is_noted):
    """MuJoCo raises time constants to two steps: of 20 ms, steps of 20 ms make 40 ms, four times as soft."""
    text = "arm.xml: option: time constant of the stiffest constraints, two steps at least 0.04 → 0.02"
    with arm('timestep=".02"', dt=dt) as simulation:
        notes = simulation.notes.get("scene", [])

    assert (text in notes) == is_noted


@pytest.mark.parametrize("place", [(64.0, 64.0, 0.0), (-300.0, 0.0, 5.0)])
def test_a_robot_far_from_the_origin_is_the_same_mechanism(place):
    """Newton's importer subtracts places of links in single precision."""
    scene = {"ground": False, "assets": [{"path": "docs/examples/so101.xml", "position": list(place)}]}
    step = {"device": "cpu", "accept_unsupported": ["asset_actuators"]}
    with pippin.Simulation({"simulation": step, "solver": {"type": "mujoco-native"}, "scene": scene}) as simulation:
        assert simulation.state.body_q.numpy()[:, 0] == pytest.approx(place[0], abs=1.0)


@pytest.mark.parametrize("moments", [(0.1, 0.2, 0.3), (0.033, 0.041, 0.074), (0.238, 0.013, 0.251)])
def test_a_lamina_is_a_body(moments, tmp_path):
    """A + B = C is legal in MuJoCo; single precision makes it A + B < C."""
    inertia = (
        f'<inertial pos="0 0 0" quat=".8 .1 .3 .2" mass="1" diaginertia="{moments[0]} {moments[1]} {moments[2]}"/>'
    )
    path = tmp_path / "plate.xml"
    path.write_text(f"<mujoco><worldbody><body><freejoint/>{inertia}</body></worldbody></mujoco>")
    plate = {"type": "body", "label": "plate", "mass": 1.0, "inertia": list(moments), "com": [0.0, 0.0, 0.0]}
    scene = {"ground": False, "assets": [{"path": str(path)}], "objects": [plate]}
    config = {"simulation": {"device": "cpu"}, "solver": {"type": "mujoco-native"}, "scene": scene}
    with pippin.Simulation(config) as simulation:
        found = simulation.model.body_inertia.numpy()
        simulation.step(2)

    assert np.sort(np.linalg.eigvalsh(found.astype(float)), axis=1) == pytest.approx(
        np.tile(np.sort(moments), (2, 1)), rel=1e-5, abs=1e-5 * max(moments)
    )


def test_a_margin_beside_a_box_is_kept_or_warned_of(arm):
    both = (
        '<default><geom margin="0.001"/></default><worldbody><geom type="box" size=".1 .1 .1" pos="1 0 0"/></worldbody>'
    )
    with arm(rest=both) as simulation:
        margins, notes = simulation.solver.mj_model.geom_margin.tolist(), simulation.notes
    with pytest.warns(UserWarning, match=r"the margin of shape .* is left out: .*use the solver mujoco-native"):
        arm(rest=both, solver="mujoco").close()

    assert margins == pytest.approx([0.001, 0.001])
    assert notes == {}
