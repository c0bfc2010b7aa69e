"""Merged bodies have the mass properties of MuJoCo's merged bodies, and of the formula."""

import copy

import mujoco
import newton
import numpy as np
import pytest
import warp as wp
from pippin.assembly.scene import add_assets, new_builder
from pippin.config.model import AssetConfig, SceneConfig
from pippin.quaternions import from_mujoco, matrix

URDF = """<robot name="r"><link name="world"/>
<joint name="hinge" type="revolute"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="a"><inertial><origin xyz=".1 .2 0" rpy=".3 0 0"/><mass value="2"/>
<inertia ixx=".1" iyy=".15" izz=".2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="ab" type="fixed"><origin xyz="1 0 .2" rpy=".4 .5 .6"/><parent link="a"/><child link="b"/></joint>
<link name="b"><inertial><origin xyz="0 .3 .1" rpy="0 .7 0"/><mass value="1"/>
<inertia ixx=".02" iyy=".03" izz=".04" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="bc" type="fixed"><origin xyz=".2 .5 -.3" rpy="-.9 .2 .1"/><parent link="b"/><child link="c"/></joint>
<link name="c"><inertial><origin xyz="-.1 0 .4" rpy="0 0 .8"/><mass value="3"/>
<inertia ixx=".3" iyy=".4" izz=".5" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""

MJCF = """<mujoco><worldbody><body name="a"><joint axis="0 1 0"/>
<inertial pos=".1 .2 0" quat="1 .2 0 0" mass="2" diaginertia=".1 .15 .2"/>
<body name="b" pos="1 0 .2" quat="1 .3 .5 .1"><inertial pos="0 .3 .1" mass="1" diaginertia=".02 .03 .04"/>
<body name="c" pos=".2 .5 -.3" quat="1 -.9 0 .4">
<inertial pos="-.1 0 .4" quat="1 0 0 .8" mass="3" diaginertia=".3 .4 .5"/></body></body></body></worldbody></mujoco>"""


def test_two_links_have_the_inertia_of_the_parallel_axis_formula():
    builder = new_builder(SceneConfig())
    inertia = wp.diag(wp.vec3(0.1, 0.1, 0.1))
    links = [builder.add_link(mass=mass, inertia=inertia) for mass in (2.0, 1.0)]
    joints = [builder.add_joint_revolute(-1, links[0], axis=newton.Axis.Y)]
    joints.append(builder.add_joint_fixed(*links, parent_xform=wp.transform((1.0, 0.0, 0.0), wp.quat_identity())))
    builder.add_articulation(joints)
    copied = copy.deepcopy(builder)  # each asset is read into a copy

    copied.collapse_fixed_joints()

    reduced = 2.0 * 1.0 / 3.0 * 1.0**2  # reduced mass times the square of the distance
    expected = np.diag([0.2, 0.2 + reduced, 0.2 + reduced])
    assert np.array(copied.body_inertia[0]).reshape(3, 3) == pytest.approx(expected, abs=1e-6)
    assert np.array(copied.body_inv_inertia[0]).reshape(3, 3) == pytest.approx(np.linalg.inv(expected), abs=1e-5)


@pytest.mark.parametrize(("name", "text"), [("robot.urdf", URDF), ("robot.xml", MJCF)])
def test_a_chain_of_turned_links_has_the_inertia_of_mujocos_merged_body(tmp_path, name, text):
    (file := tmp_path / name).write_text(text)
    scene = SceneConfig(assets=(AssetConfig(path=str(file), collapse_fixed_joints=True),))
    spec = mujoco.MjSpec.from_file(str(file))
    spec.compiler.fusestatic = True
    theirs = spec.compile()
    turn = matrix(from_mujoco(theirs.body_iquat[1]))

    add_assets(builder := new_builder(scene), scene)

    (body,) = (index for index, mass in enumerate(builder.body_mass) if mass > 0.0)
    assert theirs.nbody == 2
    assert builder.body_mass[body] == pytest.approx(6.0)
    assert np.array(builder.body_com[body]) == pytest.approx(theirs.body_ipos[1], abs=1e-5)
    expected = turn @ np.diag(theirs.body_inertia[1]) @ turn.T
    assert np.array(builder.body_inertia[body]).reshape(3, 3) == pytest.approx(expected, abs=1e-5)
