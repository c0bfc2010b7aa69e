"""`pippin init`: a file that runs, for robots of installed packages, each held for four seconds."""

import re
import sysconfig
from pathlib import Path

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.assets.asset import FORMATS
from pippin.cli import main
from pippin.config.documents import ROBOTS

PACKAGES = Path(sysconfig.get_path("purelib"))
DATA = PACKAGES / "cmeel.prefix" / "share" / "example-robot-data" / "robots"

STANDING = {
    "newton/examples/assets/nv_ant.xml": (0.35, 0.42),
    "newton/examples/assets/quadruped.urdf": (0.47, 0.52),
    "gymnasium/envs/mujoco/assets/ant.xml": (0.35, 0.42),
    "mjlab/asset_zoo/robots/unitree_go1/xmls/go1.xml": (0.25, 0.30),
    "mjlab/asset_zoo/robots/unitree_g1/xmls/g1.xml": (0.77, 0.81),
    DATA / "a1_description/urdf/a1.urdf": (0.22, 0.27),
    DATA / "go2_description/urdf/go2.urdf": (0.26, 0.33),
}
"""Bounds on the height of the base after four seconds [m]."""

HOLDING = [
    "newton/examples/assets/cartpole.urdf",
    "newton/examples/assets/cartpole.usda",
    "gymnasium/envs/mujoco/assets/hopper.xml",
    "mujoco/mjx/test_data/shadow_hand/right_hand.xml",
    DATA / "panda_description/urdf/panda.urdf",
    DATA / "ur_description/urdf/ur5_robot.urdf",
]

LEGS = """<robot name="dog"><link name="trunk"><inertial><mass value="5"/>
<inertia ixx="0.05" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.2 0.1"/></geometry></collision></link>{legs}</robot>"""
LEG = """<link name="{name}_shank"><inertial><origin xyz="0 0 -0.1"/><mass value="0.3"/>
<inertia ixx="0.001" iyy="0.001" izz="0.0001" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.02"/></geometry></collision></link>
<joint name="{name}_knee" type="revolute"><parent link="trunk"/><child link="{name}_shank"/>
<origin xyz="{x} {y} -0.05"/><axis xyz="0 1 0"/>
<limit lower="{low}" upper="{high}" effort="40" velocity="20"/></joint>"""


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def dog(low=-1.0, high=1.0):
    """A URDF of a trunk on four legs; the shanks hang straight down, or as far as the limits let them [rad]."""
    feet = [(f"{'f' if x > 0 else 'b'}{'l' if y > 0 else 'r'}", x, y) for x in (0.2, -0.2) for y in (0.1, -0.1)]
    legs = "".join(LEG.format(name=name, x=x, y=y, low=low, high=high) for name, x, y in feet)
    return LEGS.format(legs=legs)


FAST = ("newton/examples/assets/quadruped.urdf", "newton/examples/assets/cartpole.urdf")

EACH = [pytest.param(each, marks=() if each in FAST else pytest.mark.slow) for each in (*STANDING, *HOLDING)]


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("robot", EACH, ids=lambda path: Path(path).stem)
def test_a_robot_of_a_package_holds_its_pose_at_the_first_try(robot, folder):
    if not (PACKAGES / robot).exists():
        pytest.skip("needs the group 'robots'")

    result = run("init", PACKAGES / robot, "--out", "first.toml")

    assert result.exit_code == 0, result.output
    assert " it stands" in result.output or " it holds its pose" in result.output
    with pippin.Simulation.from_file("first.toml", {"simulation.device": "cpu"}) as simulation:
        start = simulation.state.joint_q.numpy()
        simulation.step(200)
        simulation.raise_errors()
        end = simulation.state.joint_q.numpy()
    low, high = STANDING.get(robot, (-np.inf, np.inf))
    assert low <= end[2] <= high or robot in HOLDING
    assert robot in STANDING or np.abs(end - start).max() < 0.2


@pytest.mark.slow
def test_a_robot_without_a_stated_base_walks_freely_if_it_has_legs(folder):
    (folder / "dog.urdf").write_text(dog())

    assert run("init", "dog.urdf").exit_code == 0
    assert run("init", "dog.urdf", "--fixed", "--out", "fixed.toml").exit_code == 0

    text = (folder / "dog.toml").read_text()
    assert pippin.load("dog.toml").scene.assets[0].floating
    assert not pippin.load("fixed.toml").scene.assets[0].floating
    assert 'path = "dog.urdf"' in text
    assert '# body = "trunk"' in text


@pytest.mark.slow
def test_the_start_is_within_limits_and_on_the_ground(folder):
    """The shanks are bent by 0.3 rad at least; the lowest point of the feet is 1 cm above the ground."""
    (folder / "dog.urdf").write_text(dog(low=0.3, high=1.3))

    assert run("init", "dog.urdf").exit_code == 0

    with pippin.Simulation.from_file("dog.toml", {"simulation.device": "cpu"}) as simulation:
        angles = simulation.state.joint_q.numpy()[7:]
        feet = simulation.state.body_q.numpy()[1:]
    along = 2.0 * (feet[:, 3] * feet[:, 5] - feet[:, 6] * feet[:, 4]), 1.0 - 2.0 * (feet[:, 3:5] ** 2).sum(axis=1)
    assert (angles >= 0.3).all()
    assert (feet[:, 2] - 0.2 * along[1]).min() - 0.02 == pytest.approx(0.01, abs=2e-3)


def test_a_start_in_a_keyframe_and_servos_of_the_file_are_kept(folder):
    (folder / "arm.xml").write_text(
        '<mujoco><worldbody><body pos="0 0 1"><joint name="elbow" axis="0 1 0"/><geom size="0.05" pos="0.2 0 0"/>'
        '</body></worldbody><actuator><position name="servo" joint="elbow" kp="50" kv="3"/></actuator>'
        '<keyframe><key name="home" qpos="0.5" ctrl="0.5"/></keyframe></mujoco>'
    )

    assert run("init", "arm.xml").exit_code == 0

    config = pippin.load("arm.toml")
    assert config.scene.assets[0].keyframe == "home"
    assert config.actuators["joints"].type == "control"


@pytest.mark.slow
def test_a_robot_that_falls_is_said_to(folder):
    """A pole on a point cannot stand, with any gains."""
    (folder / "pole.xml").write_text(
        '<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom type="capsule" size="0.02 0.4" euler="5 0 0"/>'
        '<body pos="0 0 0.4"><joint name="top" axis="0 1 0"/><geom size="0.05" pos="0 0 0.1"/></body></body>'
        "</worldbody></mujoco>"
    )

    result = run("init", "pole.xml")

    assert result.exit_code == 0, result.output
    assert re.search(r"pole.toml: written; it does not stand: base at 0\.\d+ m, 0\.0\d+ m after 2 s", result.output)
    assert "it does not stand" in (folder / "pole.toml").read_text()
    assert "next: pippin view pole.toml; give another keyframe" in result.output


@pytest.mark.filterwarnings("always:.*is not that of a body")
def test_a_warning_is_said_once_and_a_fixed_base_with_its_cure(folder):
    """Each try reads the file again."""
    parts = [
        f'<link name="{name}"><inertial><mass value="1"/>'
        f'<inertia ixx="1e-3" iyy="1e-3" izz="{high}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name, high in (("base", 1e-3), ("arm", 5e-3))
    ]
    joint = '<parent link="base"/><child link="arm"/><axis xyz="0 0 1"/><limit effort="5" velocity="3" upper="1"/>'
    (folder / "arm.urdf").write_text(
        f'<robot name="r">{"".join(parts)}<joint name="j" type="revolute">{joint}</joint></robot>'
    )

    result = run("init", "arm.urdf")

    assert result.exit_code == 0, result.output
    assert result.output.count("is not that of a body") == 1
    assert "it holds its pose for 2 s, its base fixed (--floating frees it): " in result.output


def test_a_file_is_never_overwritten(folder):
    (folder / "dog.urdf").write_text(dog())
    (folder / "dog.toml").write_text("mine")

    result = run("init", "dog.urdf")

    assert result.exit_code == 2
    assert "--out: 'dog.toml' exists" in result.output
    assert (folder / "dog.toml").read_text() == "mine"


@pytest.mark.parametrize("command", ["run", "view", "check", "profile", "show", "compare", "sweep"])
def test_a_robot_in_place_of_a_configuration_leads_to_the_command(command, folder):
    (folder / "robot.xml").write_text("<mujoco/>")

    result = run(command, "robot.xml", *(["--over", "scene.worlds=1,2"] if command == "sweep" else []))

    assert result.exit_code == 2
    assert "robot.xml: a robot, and no configuration; write one by `pippin init robot.xml`" in result.output


def test_the_suffixes_that_lead_to_the_command_are_those_of_the_importers():
    assert set(ROBOTS) == {suffix for form in FORMATS.values() for suffix in form.suffixes}


ARM = """<mujoco><worldbody><body name="base"><geom size=".05"/><body pos="0 0 .1" euler="20 0 0">
<joint name="lift" axis="0 1 0" range="-90 90"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/>
<body pos=".2 0 0"><joint name="bend" axis="0 1 1" range="-90 90"/>
<geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/></body></body></body></worldbody>
<actuator><motor joint="lift" gear="-6" ctrlrange="-4 4"/><motor joint="bend" forcerange="-8 8"/></actuator></mujoco>"""


def test_the_limits_of_the_motors_stand_in_the_file(folder):
    (folder / "arm.xml").write_text(ARM)

    result = run("init", "arm.xml")

    assert result.exit_code == 0, result.output
    assert pippin.load("arm.toml").actuators["joints"].config.effort_limit == {"lift": 24.0, "bend": 8.0}
