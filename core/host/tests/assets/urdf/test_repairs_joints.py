from pathlib import Path

import pytest
from pippin.assets.urdf.repairs import repair_joints
from pippin.assets.urdf.tree import parse


def repaired(*joints: str):
    """Return the robot of a chain of joints named j0, j1, ..., each given by its type and the XML inside it."""
    text = '<link name="l0"/>'
    for index, joint in enumerate(joints):
        kind, _, inside = joint.partition(" ")
        ends = f'<parent link="l{index}"/><child link="l{index + 1}"/>'
        text += f'<link name="l{index + 1}"/><joint name="j{index}" type="{kind}">{ends}{inside}</joint>'
    robot = parse(f"<robot>{text}</robot>".encode(), Path("arm.urdf"), "asset")
    repair_joints(robot)
    return robot


def limits(robot) -> dict[str, str]:
    return robot.joints["j0"].find("limit").attrib


@pytest.mark.parametrize(
    ("joint", "expected", "note"),
    [
        ('revolute <limit lower="-1" upper="1"/>', {"lower": "-1.0", "upper": "1.0"}, None),
        ('revolute <limit upper="1"/>', {"lower": "0.0", "upper": "1.0"}, None),
        ('revolute <limit lower="0" upper="0"/>', {}, "lower and upper are 0: read as no limits"),
        ('prismatic <limit effort="1"/>', {"effort": "1"}, None),
        ('revolute <limit lower="1" upper="-1"/>', {}, "lower is above upper: read as no limits"),
        ('continuous <limit lower="0" upper="0"/>', {}, None),
        ('continuous <limit lower="-1" upper="1"/>', {}, "a continuous joint has no limits"),
        ('continuous <limit effort="0" velocity="3"/>', {"velocity": "3"}, "effort = 0 is read as no limit"),
        ('continuous <limit effort="2" velocity="0.0"/>', {"effort": "2"}, "velocity = 0 is read as no limit"),
    ],
)
def test_limits_are_those_that_the_file_means(joint, expected, note):
    robot = repaired(joint)

    assert limits(robot) == expected
    assert [text.partition("; ")[0] for text in robot.notes] == ([] if note is None else [note])


def test_a_note_names_every_joint_of_its_kind_once():
    robot = repaired(
        'revolute <limit lower="0" upper="0"/>', 'continuous <limit effort="0"/>', 'prismatic <limit lower="0"/>'
    )

    assert robot.notes == [
        "lower and upper are 0: read as no limits; set type = fixed to hold them; joints: 'j0', 'j2'",
        "effort = 0 is read as no limit; joints: 'j1'",
    ]


@pytest.mark.parametrize(
    ("joint", "expected"),
    [
        ('revolute <limit lower="0.5" upper="0.5"/>', "lower and upper are both 0.5; set type = fixed"),
        ('continuous <axis xyz="0 0 0"/>', '<axis xyz="0 0 0"> is not a direction; give three numbers'),
        ('continuous <mimic joint="j"/>', "mimics 'j', which is not a joint of the file; did you mean 'j0'?"),
        ('floating <mimic joint="j0"/>', "floating joints neither mimic nor are mimicked"),
    ],
)
def test_a_joint_without_a_meaning_is_refused_by_name(joint, expected):
    [fault] = repaired(joint).faults

    assert fault.startswith("joint 'j0' (arm.urdf, line 1): ")
    assert expected in fault


def test_a_fixed_joint_mimics_nothing():
    robot = repaired("continuous", 'fixed <mimic joint="j0"/>', 'continuous <mimic joint="j0" multiplier="2"/>')

    assert robot.joints["j1"].find("mimic") is None
    assert robot.joints["j2"].find("mimic") is not None
    assert robot.notes == ["a fixed joint cannot mimic another one; <mimic> is left out; joints: 'j1'"]


def test_a_joint_that_mimics_a_fixed_joint_is_fixed():
    robot = repaired('continuous <mimic joint="j1"/>', 'continuous <mimic joint="j2"/>', "fixed")

    assert [joint.get("type") for joint in robot.joints.values()] == ["fixed"] * 3
    assert [note.partition(",")[0] for note in robot.notes] == ["fixed", "fixed"]


def test_a_joint_that_mimics_a_fixed_joint_with_an_offset_is_refused():
    [fault] = repaired('continuous <mimic joint="j1" offset="1"/>', "fixed").faults

    assert "mimics 'j1', which is fixed, with an offset" in fault


def test_a_planar_joint_is_told_to_have_two_axes():
    assert repaired("planar").notes == ["planar joints slide along two axes and do not rotate; joints: 'j0'"]
