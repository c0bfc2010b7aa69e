"""Links on fixed joints, which solvers that cannot hold them see merged into the links that carry them."""

import numpy as np
import pippin
import pytest

INERTIA = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = f"""<robot name="arm"><link name="base"/><link name="mount"/>
<joint name="plate" type="fixed"><parent link="base"/><child link="mount"/></joint>
<link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>{INERTIA}</link>
<joint name="hinge" type="continuous"><parent link="mount"/><child link="rod"/><axis xyz="0 1 0"/></joint>
<link name="frame"/><joint name="to_frame" type="fixed"><parent link="rod"/><child link="frame"/>
<origin xyz="0.1 0 -1" rpy="0 0 1"/></joint>
<link name="tool"><inertial><mass value="1e-9"/>{INERTIA.replace("0.1", "1e-9")}</link>
<joint name="to_tool" type="fixed"><parent link="frame"/><child link="tool"/><origin xyz="0 0.2 0"/></joint>
<link name="tip"><inertial><mass value="0.3"/>{INERTIA}</link>
<joint name="bolt" type="fixed"><parent link="tool"/><child link="tip"/></joint></robot>"""


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    return [{"path": str(tmp_path / "arm.urdf")}]


def names(labels):
    return [label.rpartition("/")[2] for label in labels]


@pytest.mark.parametrize(
    ("solver", "rest"), [("xpbd", False), ("xpbd", None), ("kamino", False), ("kamino", None), ("featherstone", None)]
)
def test_frames_are_merged_as_the_solver_needs_and_sensors_still_find_them(simulate, arm, solver, rest):
    """Maximal coordinates and explicit contacts hold no fixed joint unless they are asked to; others miss masses."""
    ends = {"end": {"type": "frame-transform", "body": "tool", "reference": {"body": "base"}}}
    with (
        simulate(assets=[{**arm[0], "collapse_fixed_joints": rest}], solver=solver, worlds=2, sensors=ends) as merged,
        simulate(
            assets=[{**arm[0], "collapse_fixed_joints": False}], solver="featherstone", worlds=2, sensors=ends
        ) as whole,
    ):
        for each in (merged, whole):
            each.step()
        of = [each.sensors["end"].outputs["position"].data.numpy() for each in (merged, whole)]
        notes = [note for note in merged.notes["scene"] if "merged" in note]
        bodies = names(merged.model.body_label), names(whole.model.body_label)

    kept = ["base", "rod"] if rest is None else ["base", "mount", "rod", "tip"]
    assert bodies == (kept * 2, ["base", "mount", "rod", "frame", "tool", "tip"] * 2)
    assert of[0] == pytest.approx(of[1], abs=2e-4)
    expected = "mount into base, frame into rod, tool into rod" if rest is None else "frame into rod, tool into rod"
    (note,) = notes
    assert note.startswith(f"links are merged into those they are fixed to, as sites: {expected}")
    assert merged.ignored_features == {}


def test_a_merged_link_that_a_sensor_of_bodies_names_is_refused_with_its_cure(simulate, arm):
    with pytest.raises(pippin.ConfigError, match="'tool' is merged into 'rod': name 'rod'"):
        simulate(assets=arm, solver="xpbd", sensors={"touch": {"type": "contact", "bodies": ["tool"]}})


@pytest.mark.slow
def test_the_merged_robot_moves_as_the_whole_one(simulate, arm):
    angles = []
    for solver in ("kamino", "mujoco"):
        with simulate(assets=[{**arm[0], "joint_positions": {"hinge": 1.0}}], solver=solver, dt=0.002) as simulation:
            simulation.step(100)
            angles.append(simulation.state.joint_q.numpy())

    assert np.abs(angles[1] - 1.0).max() > 0.1
    assert angles[0] == pytest.approx(angles[1], rel=0.02)


@pytest.mark.parametrize("solver", ["xpbd", "kamino", "featherstone"])
def test_a_floating_root_without_a_mass_falls_with_the_link_that_it_carries(simulate, tmp_path, solver):
    """XPBD takes a body without a mass for a static one, from which the robot would hang."""
    trunk = f'<link name="trunk"><inertial><mass value="2"/>{INERTIA}</link>'
    rod = f'<link name="rod"><inertial><mass value="1"/>{INERTIA}</link>'
    tree = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/></joint>'
    joints = tree.format("plate", "fixed", "root", "trunk") + tree.format("hinge", "continuous", "trunk", "rod")
    (tmp_path / "rover.urdf").write_text(f'<robot name="rover"><link name="root"/>{trunk}{rod}{joints}</robot>')
    assets = [{"path": str(tmp_path / "rover.urdf"), "floating": True, "position": [0.0, 0.0, 5.0]}]
    with simulate(assets=assets, solver=solver, dt=0.001) as simulation:
        simulation.step(500)
        fallen = 5.0 - simulation.state.body_q.numpy()[:, 2]

    assert fallen == pytest.approx(9.81 * 0.5**2 / 2, rel=5e-3)


@pytest.mark.parametrize(("solver", "is_named"), [("xpbd", True), ("featherstone", False)])
def test_a_divergence_names_the_merger_of_fixed_links(simulate, arm, solver, is_named):
    assets = [{**arm[0], "joint_positions": {"hinge": 1.0}, "collapse_fixed_joints": False}]
    with simulate(assets=assets, solver=solver, max_speed=0.1) as simulation:
        simulation.step(20)
        with pytest.raises(pippin.SimulationError, match=r"more than simulation\.max_speed") as fault:
            simulation.raise_errors()

    assert ("set collapse_fixed_joints = true of the asset" in str(fault.value)) == is_named
