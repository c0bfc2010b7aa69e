"""`pippin tune`: tables on the terminal, and a configuration that runs."""

import json

import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main

ROBOT = """<mujoco><worldbody><body><joint name="hip" axis="0 1 0"/><geom size="0.05" pos="0.2 0 0"/>
<body pos="0.4 0 0"><joint name="knee" axis="0 1 0"/><geom size="0.05" pos="0.1 0 0"/></body>
</body></worldbody></mujoco>"""


@pytest.fixture
def tune(tmp_path, monkeypatch):
    """Return a function that runs `pippin tune` in a folder with `robot.xml` and `robot.toml`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.xml").write_text(ROBOT)
    (tmp_path / "robot.toml").write_text(
        '[scene]\nassets = [{ path = "robot.xml" }]\n[solver]\ntype = "mujoco-native"\n'
        '[actuators.leg]\ntype = "pd"\njoints = [".*"]\nkp = 1.0\n'
    )
    return lambda *arguments: CliRunner().invoke(main, ["tune", *arguments])


def test_a_robot_file_gives_a_configuration_that_has_the_gains(tune, tmp_path):
    result = tune("robot.xml", "--out", "tuned", "--set", "simulation.dt=0.001")

    config = pippin.load(tmp_path / "tuned" / "tuned.toml")
    assert result.exit_code == 0, result.output
    assert config.simulation.dt == 0.001
    assert set(config.actuators["joints"].config.kp) == {"hip", "knee"}


ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -.5"/><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="0.2" upper="1" effort="50" velocity="2"/></joint></robot>"""


MJCF = """<mujoco><compiler angle="radian"/><worldbody><body><joint name="hinge" axis="0 1 0" range="0.2 1"/>
<geom size=".1" pos="0 0 -.5" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("name", "text", "is_outside"), [("arm.urdf", ARM, False), ("arm.xml", MJCF, True)])
def test_what_is_written_runs_and_says_if_it_starts_outside_its_limits(tune, tmp_path, name, text, is_outside):
    """MJCF states the start, and URDF none: there, it is within the limits."""
    (tmp_path / name).write_text(text)

    result = tune(name, "--out", "tuned")

    assert result.exit_code == 0, result.output
    note = "# 1 joint starts outside its limits: hinge 0 < 0.2; set joint_positions"
    assert (note in (tmp_path / "tuned" / "tuned.toml").read_text()) == is_outside
    with pippin.Simulation.from_file(tmp_path / "tuned" / "tuned.toml", {"simulation.device": "cpu"}) as simulation:
        simulation.step()
        simulation.raise_errors()


def test_a_configuration_is_extended(tune, tmp_path):
    assert tune("robot.toml", "--out", "tuned", "--set", "simulation.substeps=2").exit_code == 0

    config = pippin.load(tmp_path / "tuned" / "tuned.toml")
    assert config.simulation.substeps == 2
    assert config.solver.type == "mujoco-native"
    assert config.actuators["leg"].config.kp["knee"] > 1.0
    assert config.actuators["leg"].config.joints == (".*",)


def test_a_file_is_never_overwritten(tune, tmp_path):
    result = tune("robot.xml", "--out", "robot.toml")

    assert result.exit_code == 2
    assert "--out: 'robot.toml'" in result.stderr
    assert "[actuators.leg]" in (tmp_path / "robot.toml").read_text()


def test_the_gains_are_printed_as_toml_below_the_table(tune):
    result = tune("robot.toml")

    assert "[actuators.leg.kp]" in result.stdout.splitlines()
    assert result.stdout.split()[:2] == ["joint", "inertia"]


def test_a_folder_has_the_gains_and_their_page(tune, tmp_path):
    assert tune("robot.toml", "--out", "tuned").exit_code == 0

    folder = tmp_path / "tuned"
    assert {file.name for file in folder.iterdir()} == {"config.toml", "tuned.toml", "summary.json", "report.html"}
    (group,) = json.loads((folder / "summary.json").read_text())["groups"]
    kp = f"{group['gains'][0]['kp']:.3g}"
    page = (folder / "report.html").read_text()
    assert "Group leg, explicit efforts" in page
    assert f">{kp}</td>" in page


def test_without_a_folder_nothing_is_written(tune, tmp_path):
    assert tune("robot.toml").exit_code == 0

    assert {file.name for file in tmp_path.iterdir()} == {"robot.toml", "robot.xml"}


def test_the_gains_are_printed_as_json(tune):
    (group,) = json.loads(tune("robot.toml", "--json").stdout)

    assert group["group"] == "leg"
    assert [gain["label"].rpartition("/")[2] for gain in group["gains"]] == ["hip", "knee"]


def test_a_table_of_gains_cannot_be_extended(tune):
    tune("robot.xml", "--out", "tuned")

    result = tune("tuned/tuned.toml", "--out", "again")

    assert result.exit_code == 2
    assert "--out: actuators.joints.kp of 'tuned/tuned.toml' is a table" in result.stderr
