from pathlib import Path

import pytest
from pippin.assets.urdf.reading import Packages, resolve_geometry
from pippin.assets.urdf.tree import parse


def resolved(folder: Path, *parts: str):
    """Return the robot of one link with collision and visual parts, given by `collision <box/>` and the like."""
    text = ""
    for part in parts:
        tag, _, shape = part.partition(" ")
        text += f"<{tag}><geometry>{shape}</geometry></{tag}>\n"
    file = folder / "arm.urdf"
    robot = parse(f'<robot><link name="a">\n{text}</link></robot>'.encode(), file, "asset")
    resolve_geometry(robot, Packages(file))
    return robot


def test_a_mesh_is_given_by_its_absolute_path(tmp_path):
    (tmp_path / "link.stl").touch()
    uri = f"package://{tmp_path.name}/link.stl"

    robot = resolved(tmp_path, f'collision <mesh filename="{uri}"/>', 'visual <mesh filename="link.stl"/>')

    names = {mesh.get("filename") for mesh in robot.root.iter("mesh")}
    assert names == {str(tmp_path / "link.stl")}


def test_collision_meshes_that_are_not_found_are_one_fault_for_each_package(tmp_path):
    meshes = [f'collision <mesh filename="package://{name}.stl"/>' for name in ("hand/a", "hand/b", "foot/a")]

    hand, foot = resolved(tmp_path, *meshes).faults

    place = "of link 'a' (arm.urdf, line 2), and 1 more: no package 'hand' above the file"
    assert hand.startswith(f"collision mesh 'package://hand/a.stl' {place}")
    assert hand.endswith("with this name in a package.xml")
    assert "'package://foot/a.stl' of link 'a' (arm.urdf, line 4): no package 'foot'" in foot


def test_visual_meshes_that_are_not_found_are_one_note_for_all(tmp_path):
    meshes = [f'visual <mesh filename="package://hand/{name}.stl"/>' for name in "abc"]

    robot = resolved(tmp_path, *meshes, 'visual <sphere radius="1"/>')

    [note] = robot.notes
    assert note.startswith("3 visual meshes or textures are not drawn, the first is 'package://hand/a.stl': no package")
    assert len(robot.links["a"].findall("visual")) == 1
    assert not robot.faults


def test_nothing_is_fetched_from_the_network(tmp_path):
    """Newton's importer would."""
    mesh = '<mesh filename="https://localhost:9/link.stl"/>'
    material = '<material name="m"><texture filename="http://localhost:9/m.png"/></material>'

    robot = resolved(tmp_path, f"collision {mesh}", f"visual {mesh}", f"visual <box/></geometry>{material}<geometry>")

    [fault], [note] = robot.faults, robot.notes
    assert fault.endswith("Pippin downloads nothing; download it, and name the file")
    assert note.startswith(
        "2 visual meshes or textures are not drawn, the first is 'https://localhost:9/link.stl': Pip"
    )
    assert not list(robot.root.iter("texture"))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ('collision <plane normal="0 0 1"/>', "the geometry of a <collision> is <plane>; give one of box, cylinder"),
        ("collision ", "the geometry of a <collision> is empty"),
        ("collision <sphere/>", "<sphere> of a <collision> has no radius; add it"),
        ("collision <mesh/>", "<mesh> of a <collision> has no filename; add it"),
        ('collision <capsule radius="1"/>', "<capsule> of a <collision> has no length; add it"),
    ],
)
def test_a_collision_that_would_vanish_or_be_guessed_is_refused(tmp_path, part, expected):
    [fault] = resolved(tmp_path, part).faults

    assert expected in fault


def test_the_length_of_a_capsule_reaches_the_importer(tmp_path):
    robot = resolved(tmp_path, 'collision <capsule radius="1" length="3"/>')

    assert next(robot.root.iter("capsule")).get("height") == "3"


def test_the_file_of_a_missing_texture_is_left_out(tmp_path):
    material = '<material name="m"><texture filename="m.png"/></material>'
    robot = parse(f'<robot>{material}<link name="a"/></robot>'.encode(), tmp_path / "arm.urdf", "asset")

    resolve_geometry(robot, Packages(tmp_path / "arm.urdf"))

    assert not list(robot.root.iter("texture"))
    assert robot.notes[0].startswith("one visual mesh or texture is not drawn, the first is 'm.png'")


def test_the_missing_meshes_of_a_folder_are_one_fault(tmp_path):
    robot = resolved(tmp_path, *(f'collision <mesh filename="/home/somebody/{name}.stl"/>' for name in "abc"))

    [fault] = robot.faults
    assert "'/home/somebody/a.stl'" in fault
    assert ", and 2 more: there is no such file" in fault
