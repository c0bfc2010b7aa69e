from pathlib import Path

import pytest
from pippin.assets.urdf.repairs import repair_masses
from pippin.assets.urdf.tree import parse

BALL = '<collision><geometry><sphere radius="1"/></geometry></collision>'
UNIT = 'ixx="1" iyy="1" izz="1"'


def inertial(mass: float, moments: str = UNIT) -> str:
    return f'<inertial><mass value="{mass}"/><inertia {moments}/></inertial>'


def repaired(*links: str, joints: str = "", floating: bool = False):
    """Return the robot of a chain of links named a, b, ..., with one letter for the type of each joint."""
    kinds = {"f": "fixed", "c": "continuous"}
    text = "".join(f'<link name="{name}">{inside}</link>' for name, inside in zip("abcd", links, strict=False))
    for index, kind in enumerate(joints):
        ends = f'<parent link="{"abcd"[index]}"/><child link="{"abcd"[index + 1]}"/>'
        text += f'<joint name="j{index}" type="{kinds[kind]}">{ends}</joint>'
    robot = parse(f"<robot>{text}</robot>".encode(), Path("arm.urdf"), "asset")
    repair_masses(robot, floating=floating)
    return robot


def masses(robot) -> list[float | None]:
    """Return the mass that the importer is told for each link; None if it takes the mass of the shapes."""
    found = [link.find("inertial/mass") for link in robot.links.values()]
    return [None if mass is None else float(mass.get("value")) for mass in found]


def test_a_base_on_the_ground_and_a_frame_on_a_link_need_no_mass():
    robot = repaired("", inertial(1.0), "", joints="cf")

    assert masses(robot) == [0.0, 1.0, 0.0]
    assert not robot.notes


def test_a_link_that_moves_without_a_mass_gets_a_small_one():
    robot = repaired("", "", inertial(1.0), joints="cc")

    assert masses(robot) == [0.0, 0.001, 1.0]
    assert robot.notes[0].startswith("they move without a mass: each gets 0.001 kg and 1e-06 kg·m²")
    assert robot.notes[0].endswith("links: 'b'")


def test_a_root_without_a_mass_matters_if_it_floats():
    assert masses(repaired(inertial(0.0), floating=True)) == [0.001]
    assert masses(repaired(inertial(0.0))) == [0.0]


def test_shapes_give_a_mass_only_to_a_part_that_has_none():
    robot = repaired(BALL, inertial(1.0), BALL, BALL, joints="cfc")

    assert masses(robot) == [0.0, 1.0, 0.0, None]
    assert robot.notes == ["no <inertial>: mass and inertia are those of the collision shapes; links: 'd'"]


def test_an_inertia_that_no_body_can_have_is_told_before_and_after():
    robot = repaired(inertial(1.0, 'ixx="1" iyy="2" izz="5"'))

    assert robot.notes == [
        "inertia (1, 2, 5) kg·m² is not that of a body, A + B >= C > 0: it becomes (2, 3, 5); links: 'a'"
    ]


def test_a_mass_without_an_inertia_becomes_a_sphere():
    robot = repaired(inertial(1.0, "").replace("<inertia />", ""))

    assert float(robot.links["a"].find("inertial/inertia").get("ixx")) == pytest.approx(0.4 * 0.0620**2, rel=1e-2)
    assert robot.notes == ["no inertia: it is that of a sphere of water of the same mass; links: 'a'"]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (inertial(-1.0), "its <inertial> has a mass of -1 kg; give it a mass >= 0"),
        (inertial(float("nan")), "its <inertial> has a mass of nan kg"),
        (inertial(1.0).replace('<mass value="1.0"/>', ""), "its <inertial> has no <mass>"),
        (inertial(1.0, 'ixx="inf"'), "its <inertia> is not finite; correct it"),
    ],
)
def test_an_impossible_mass_is_refused_by_name(link, expected):
    [fault] = repaired(link).faults

    assert fault.startswith("link 'a' (arm.urdf, line 1): ")
    assert expected in fault
