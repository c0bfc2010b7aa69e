"""Each rule of the linter on a robot with its fault, and on the same robot without it."""

import itertools
import json
import time
from pathlib import Path

import newton
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_lint.findings import RULES
from pippin_lint.rules import lint

BASE = {
    "name": "arm",
    "mass": "1",
    "inertia": 'ixx="0.0077" iyy="0.0077" izz="0.0012" ixy="0" ixz="0" iyz="0"',
    "limit": '<limit lower="-1" upper="1" effort="5" velocity="3"/>',
    "shape": '<box size="0.06 0.06 0.3"/>',
    "joint": "shoulder",
    "place": "0 0 0.3",
}
"""A column of 0.2 m with an arm of 0.3 m and 1 kg on it."""


def robot(**changed):
    """Return a URDF with some parts changed."""
    part = BASE | changed
    return f"""<robot name="r">
  <link name="base">
    <inertial><mass value="3"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
  </link>
  <link name="{part["name"]}">
    <inertial><mass value="{part["mass"]}"/><inertia {part["inertia"]}/></inertial>
    <collision><geometry>{part["shape"]}</geometry></collision>
  </link>
  <joint name="{part["joint"]}" type="revolute">
    <parent link="base"/><child link="{part["name"]}"/><origin xyz="{part["place"]}"/><axis xyz="0 1 0"/>
    {part["limit"]}
  </joint>
</robot>
"""


def mjcf(body="", actuator='<motor joint="hinge" ctrlrange="-5 5"/>'):
    """Return an MJCF with a hinge, and more in its world."""
    return f"""<mujoco><worldbody>
  <body name="arm" pos="0 0 1"><joint name="hinge" type="hinge" axis="0 1 0"/><geom type="capsule" size=".03 .1"/>{body}
  </body>
</worldbody><actuator>{actuator}</actuator></mujoco>
"""


def told(tmp_path, text, suffix=".urdf"):
    """Return the findings of a file by rule, and the file's lines."""
    (tmp_path / f"robot{suffix}").write_text(text)
    found = lint(tmp_path / f"robot{suffix}")
    assert {each.rule for each in found} <= RULES.keys()
    return {each.rule: each for each in found}


@pytest.mark.alone
def test_a_sound_urdf_is_told_nothing(tmp_path):
    assert told(tmp_path, robot()) == {}


def test_a_sound_mjcf_is_told_nothing(tmp_path):
    assert told(tmp_path, mjcf(), ".xml") == {}


URDF = [
    ("inertia", {"inertia": 'ixx="0.0012" iyy="0.0012" izz="0.01" ixy="0" ixz="0" iyz="0"'}, "'arm'", "0.0024"),
    ("inertia", {"inertia": 'ixx="-0.001" iyy="0.0077" izz="0.0077" ixy="0" ixz="0" iyz="0"'}, "'arm'", "-0.001"),
    ("mass", {"mass": "0"}, "'arm'", "mass 0 kg"),
    ("inertia-size", {"inertia": 'ixx="7.7" iyy="7.7" izz="1.2" ixy="0" ixz="0" iyz="0"'}, "'arm'", "2.77 m"),
    (
        "mass-ratio",
        {"mass": "400", "inertia": 'ixx="3" iyy="3" izz="0.5" ixy="0" ixz="0" iyz="0"'},
        "'arm'",
        "400 kg on 3 kg",
    ),
    (
        "limits",
        {"limit": '<limit lower="1" upper="-1" effort="5" velocity="3"/>'},
        "'shoulder'",
        "lower is above upper",
    ),
    ("limits", {"limit": '<limit lower="-90" upper="90" effort="5" velocity="3"/>'}, "'shoulder'", "28.6 turns"),
    ("no-effort-limit", {"limit": '<limit lower="-1" upper="1" effort="0" velocity="3"/>'}, "'shoulder'", "no largest"),
    ("units", {"shape": '<box size="60 60 300"/>'}, "the robot", "m from its body"),
    ("units", {"mass": "90000", "inertia": 'ixx="700" iyy="700" izz="120" ixy="0" ixz="0" iyz="0"'}, "the robot", "9"),
    ("names", {"joint": "shoulder (left)"}, "'shoulder (left)'", "sign of patterns"),
    ("missing-mesh", {"shape": '<mesh filename="gone.stl"/>'}, "'gone.stl'", "no file"),
]


@pytest.mark.parametrize(
    ("rule", "changed", "place", "figure"), URDF, ids=[f"{row[0]}-{i}" for i, row in enumerate(URDF)]
)
def test_a_fault_of_a_urdf_is_told_with_place_figure_and_cure(tmp_path, rule, changed, place, figure):
    text = robot(**changed)

    found = told(tmp_path, text)

    assert rule in found, found
    assert place in found[rule].place
    assert figure in found[rule].text
    assert found[rule].cure
    if place != "the robot":
        assert place.strip("'") in text.splitlines()[found[rule].line - 1]


def test_two_links_of_one_name_are_told(tmp_path):
    found = told(tmp_path, robot().replace("</robot>", '<link name="arm"/></robot>'))

    assert "'arm'" in found["names"].place


def test_bodies_that_overlap_at_the_start_are_told(tmp_path):
    """A third link, not a neighbour of the base, reaches 50 mm into it."""
    hand = """<link name="hand"><inertial><mass value="1"/><inertia ixx="0.002" iyy="0.002" izz="0.002"
    ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
    <joint name="wrist" type="revolute"><parent link="arm"/><child link="hand"/><origin xyz="0 0 -0.2"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="3"/></joint></robot>"""

    found = told(tmp_path, robot().replace("</robot>", hand))

    assert "overlaps with" in found["overlap"].text
    assert float(found["overlap"].text.partition(" by ")[2].partition(" mm")[0]) == pytest.approx(50.0, abs=2.0)


def test_a_hull_that_fills_a_hollow_is_told(tmp_path):
    """A ring of 10 mm with a radius of 100 mm: its hull is a disc."""
    trimesh = pytest.importorskip("trimesh")
    ring = trimesh.creation.annulus(r_min=0.09, r_max=0.1, height=0.05)
    ring.export(tmp_path / "ring.stl")

    found = told(tmp_path, robot(shape='<mesh filename="ring.stl"/>'))

    assert found["hull"].place == "link 'arm'"
    assert float(found["hull"].text.split()[3]) == pytest.approx(ring.convex_hull.volume / ring.volume, rel=0.01)


def test_a_motor_of_an_mjcf_without_a_limit_is_told(tmp_path):
    found = told(tmp_path, mjcf(actuator='<motor name="m" joint="hinge"/>'), ".xml")

    assert found["no-effort-limit"].place == "actuator 'm'"


def test_an_inertia_of_an_mjcf_is_told_though_mujoco_refuses_the_file(tmp_path):
    found = told(tmp_path, mjcf('<inertial pos="0 0 0" mass="1" diaginertia="0.001 0.001 0.01"/>'), ".xml")

    assert list(found) == ["inertia"]
    assert found["inertia"].line == 2


def test_a_file_that_is_no_robot_is_told(tmp_path):
    found = told(tmp_path, "<mujoco><worldbody><body>", ".xml")

    assert found["unreadable"].level == "error"


def test_what_an_importer_reads_otherwise_is_told(tmp_path):
    found = told(tmp_path, robot(limit='<limit lower="-1" upper="1" effort="5" velocity="0"/>'))

    assert "velocity = 0 is read as no limit" in found["import"].text


def test_the_command_ends_with_1_and_writes_text_json_and_sarif(tmp_path):
    (tmp_path / "bad.urdf").write_text(robot(limit='<limit lower="-90" upper="90" effort="5" velocity="3"/>'))
    (tmp_path / "good.urdf").write_text(robot())

    def run(*words):
        done = CliRunner().invoke(main, ["lint", *map(str, words)])
        return done.exit_code, done.stdout

    bad, good = tmp_path / "bad.urdf", tmp_path / "good.urdf"
    assert run(good) == (0, "")
    assert run(bad, "--errors") == (0, "")
    code, text = run(good, bad)
    assert code == 1
    assert text.startswith(f"{bad}:10: warning: limits: joint 'shoulder': limits -90 to 90 rad are 28.6 turns; ")
    code, text = run(bad, "--format", "json")
    assert (code, json.loads(text)[0]["line"], json.loads(text)[0]["rule"]) == (1, 10, "limits")
    code, text = run(bad, "--format", "sarif")
    [ran] = json.loads(text)["runs"]
    assert [each["ruleId"] for each in ran["results"]] == ["limits"]
    assert ran["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 10}
    assert {each["id"] for each in ran["tool"]["driver"]["rules"]} == set(RULES)


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_nested_entities_are_refused_at_once(tmp_path, suffix):
    """A kilobyte that would be ten thousand million copies: a second parser would fill the memory."""
    names = "abcdefghij"
    entities = [f'<!ENTITY {names[0]} "{"x" * 10}">']
    entities += [f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in itertools.pairwise(names)]
    path = tmp_path / f"bomb{suffix}"
    path.write_text(f"<!DOCTYPE robot [{''.join(entities)}]>\n<robot name='r'><link name='&j;'/></robot>\n")

    began = time.monotonic()
    done = CliRunner().invoke(main, ["lint", str(path)])

    assert done.exit_code == 1, done.output
    assert done.stdout.startswith(f"{path}:1: error: unreadable: ")
    assert "limit on input amplification" in done.stdout
    assert time.monotonic() - began < 20.0


def test_a_file_that_does_not_exist_is_refused():
    done = CliRunner().invoke(main, ["lint", "nowhere.urdf"])

    assert done.exit_code == 2
    assert "nowhere.urdf: no such file" in done.stderr


@pytest.mark.parametrize(
    ("name", "rules"), [("quadruped.urdf", []), ("nv_ant.xml", []), ("cartpole.urdf", ["inertia-size"])]
)
def test_robots_of_newton_are_told_what_is_true_of_them(name, rules):
    """The cart of 1 kg has 0.1 kg·m² about its middle, the inertia of a mass at 0.32 m, and reaches 0.19 m."""
    folder = Path(newton.__file__).parent / "examples" / "assets"

    assert [each.rule for each in lint(folder / name)] == rules
