"""Claims about the lists of a robot file: every name, in the units and frames of Pippin."""

from pathlib import Path

import attrs
import pytest
from pippin.config import SimulationConfig
from pippin.config.model import AssetConfig, SceneConfig
from pippin.errors import ConfigError
from pippin.inspection.contents import inspect_assets, inspect_scene
from pippin.inspection.rows import AssetContents

ROBOT = """<mujoco model="dog"><compiler angle="degree"/><worldbody><geom name="floor" type="plane" size="0 0 1"/>
<body name="trunk" pos="0 0 1"><freejoint name="root"/><geom name="box" type="box" size=".1 .2 .3" mass="2"/>
  <geom name="paint" size=".1" contype="0" conaffinity="0" mass="0"/>
  <site name="imu" pos=".1 0 0"/><camera name="eye" pos="0 0 .2" fovy="90"/>
  <body name="leg" pos="0 0 -.2"><inertial pos="0 0 -.1" mass=".5" diaginertia=".01 .01 .01"/>
    <joint name="hip_x" axis="1 0 0" range="-90 45" damping=".2" armature=".01" frictionloss=".3"/>
    <joint name="hip_y" axis="0 1 0"/><geom name="shin" type="capsule" size=".03 .1" mass=".5"/></body>
</body></worldbody>
<actuator><position name="px" joint="hip_x" kp="10" ctrlrange="-1 1"/><motor joint="hip_y" gear="3"/>
  <damper name="brake" joint="hip_y" kv="1" ctrlrange="0 1"/></actuator>
<sensor><gyro name="gyro" site="imu"/><touch name="toe" site="imu"/><framequat objtype="body" objname="trunk"/></sensor>
<keyframe><key name="home" qpos="0 0 1 1 0 0 0 .5 .25"/></keyframe></mujoco>"""

URDF = """<robot name="arm"><link name="base"/><link name="hand"><inertial><mass value="3"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="lift" type="prismatic"><parent link="base"/><child link="hand"/><axis xyz="0 0 1"/>
<limit lower="0" upper="1.5" effort="20" velocity="2"/></joint></robot>"""


@pytest.fixture
def inspect(tmp_path):
    """Return a function that returns the contents of a file."""

    def inspect(text: str = ROBOT, name: str = "robot.xml", **options) -> AssetContents:
        (tmp_path / name).write_text(text)
        [contents] = inspect_assets(SceneConfig(assets=(AssetConfig(path=str(tmp_path / name), **options),)))
        return contents

    return inspect


def rows(found: tuple, *fields: str) -> list[tuple]:
    return [tuple(getattr(row, field) for field in fields) for row in found]


def test_bodies_have_their_parent_and_mass(inspect):
    contents = inspect()

    assert (contents.format, contents.total_mass, contents.dof_count) == ("mjcf", 2.5, 8)
    assert rows(contents.bodies, "name", "parent", "mass", "centre_of_mass") == [
        ("trunk", "world", 2.0, (0.0, 0.0, 0.0)),
        ("leg", "trunk", 0.5, (0.0, 0.0, -0.1)),
    ]


def test_each_axis_of_a_merged_joint_has_a_row_with_its_name(inspect):
    root, x, y = inspect().joints

    assert (root.name, root.type, root.start) == ("root", "free", (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    assert (x.name, x.type, x.body, x.axis) == ("hip_x", "d6 revolute", "leg", (1.0, 0.0, 0.0))
    assert (x.lower, x.upper) == pytest.approx((-1.570796, 0.7853982), abs=1e-5)  # MuJoCo writes six digits
    assert (x.drive, x.kp, x.damping, x.armature, x.friction) == ("position", 10.0, 0.2, 0.01, 0.3)
    assert (y.name, y.lower, y.upper, y.drive, y.effort_limit) == ("hip_y", None, None, "none", None)


def test_shapes_have_a_size_by_type_and_a_use(inspect):
    assert sorted(rows(inspect().shapes, "name", "body", "type", "size", "use")) == [
        ("box", "trunk", "box", (0.1, 0.2, 0.3), "collides"),
        ("floor", "world", "plane", (), "collides"),
        ("paint", "trunk", "sphere", (0.1,), "visual"),
        ("shin", "leg", "capsule", (0.03, 0.1), "collides"),
    ]


def test_sites_and_cameras_have_their_pose(inspect):
    contents = inspect()

    assert rows(contents.sites, "name", "body", "position") == [("imu", "trunk", (0.1, 0.0, 0.0))]
    assert rows(contents.cameras, "name", "body", "position", "vertical_fov") == [
        ("eye", "trunk", (0.0, 0.0, 0.2), 1.570796)
    ]
    assert contents.cameras[0].rotation == (0.0, 0.0, 0.0, 1.0)


def test_actuators_have_the_type_that_the_file_gives_them(inspect):
    assert rows(inspect().actuators, "name", "type", "target", "gear", "control_range") == [
        ("px", "position", "joint hip_x", 1.0, (-1.0, 1.0)),
        ("hip_y", "motor", "joint hip_y", 3.0, None),
        ("brake", "damper", "joint hip_y", 1.0, (0.0, 1.0)),
    ]


def test_a_sensor_of_the_file_comes_with_the_one_that_measures_the_same(inspect):
    assert rows(inspect().sensors, "name", "type", "target", "alternative") == [
        ("gyro", "gyro", "site imu", 'type = "imu", site = "imu"'),
        ("toe", "touch", "site imu", 'type = "contact"'),
        ("2", "framequat", "body trunk", 'type = "frame-transform", body = "trunk"'),
    ]


def test_a_keyframe_is_listed_and_is_the_start_if_the_asset_names_it(inspect):
    contents = inspect(keyframe="home")

    [home] = contents.keyframes
    assert (home.name, home.positions["hip_x"]) == ("home", (0.5,))
    assert [joint.start for joint in contents.joints[1:]] == [(0.5,), (0.25,)]


def test_a_urdf_has_the_limits_of_its_joints(inspect):
    [_, lift] = inspect(URDF, "arm.urdf").joints

    assert (lift.name, lift.type, lift.lower, lift.upper) == ("lift", "prismatic", 0.0, 1.5)
    assert (lift.effort_limit, lift.velocity_limit) == (20.0, 2.0)


def test_every_value_is_written_as_json_writes_it(inspect):
    tree = attrs.asdict(inspect())

    assert all(type(leaf) in (str, int, float, type(None)) for leaf in leaves(tree))


def leaves(tree):
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else None
    return [tree] if inner is None else [leaf for each in inner for leaf in leaves(each)]


def test_a_scene_without_assets_is_refused():
    with pytest.raises(ConfigError, match="there are none to inspect"):
        inspect_scene(SimulationConfig(), Path("nothing.toml"))


LOOP = """<mujoco><worldbody><body name="a"><joint axis="0 1 0"/><geom size=".1"/><body name="b" pos="1 0 0">
<joint axis="0 1 0"/><geom size=".1"/></body></body><body name="c" pos="1 0 1"><joint axis="0 1 0"/><geom size=".1"/>
</body></worldbody><equality><connect name="c" body1="b" body2="c" anchor=".5 0 0"/></equality></mujoco>"""


def test_loops_are_counted_beside_the_degrees_of_freedom(inspect):
    contents = inspect(LOOP)

    assert (contents.dof_count, len(contents.loops), contents.refusal) == (3, 1, "")


def test_a_file_that_is_refused_is_listed_with_the_reason(inspect):
    flex = '<deformable><flex name="f" dim="1" body="a a" vertex="0 0 0 .1 0 0" element="0 1"/></deformable>'

    contents = inspect(LOOP.replace("</mujoco>", f"{flex}</mujoco>"))

    assert "would be another mechanism than in MuJoCo: model: flexes 1 → 0" in contents.refusal
