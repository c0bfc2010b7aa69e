import sys

import pytest
from pippin.assets.urdf.reading import Packages, expand
from pippin.errors import ConfigError

pytest.importorskip("xacro", reason="an extra of pippin; the workspace's group `dev` has it")

ROBOT = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'


@pytest.fixture
def expanded(tmp_path):
    """Return a function that expands the content of a robot with arguments, and returns the text."""

    def expanded(content: str, **arguments: str) -> str:
        file = tmp_path / "arm.urdf.xacro"
        file.write_text(ROBOT.format(content))
        return expand(file, arguments, Packages(file), "scene.assets[0]").decode()

    return expanded


def test_macros_properties_and_arguments_are_expanded(expanded):
    macro = '<xacro:macro name="l" params="side"><link name="${side}_link"/></xacro:macro>'
    content = f'<xacro:arg name="side" default="left"/>{macro}<xacro:l side="$(arg side)"/>'

    assert '<link name="left_link"/>' in expanded(content)
    assert '<link name="right_link"/>' in expanded(content, side="right")


def test_find_searches_as_package_does(expanded, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "hand.xacro").write_text(ROBOT.format('<link name="hand"/>'))

    text = expanded('<xacro:include filename="$(find parts)/hand.xacro"/>')

    assert '<link name="hand"/>' in text


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('<link name="$(arg side)"/>', "Undefined substitution argument side; give the argument in xacro_args"),
        ('<link name="$(find parts)"/>', "$(find parts): no package 'parts' above the file, in package_dirs or in"),
        (
            '<xacro:arg name="name"/><xacro:arg name="type" default="ur5x"/><xacro:arg name="tool"/>$(arg name)',
            "its arguments name, tool have no value; give them in xacro_args; others have defaults: type = 'ur5x'",
        ),
        ('<link name="$(find parts)"/>', "name in package_dirs a folder that holds one of exactly this name"),
        ("<xacro:hand/>", "xacro: unknown macro name: xacro:hand; correct the file, or give other xacro_args"),
    ],
)
def test_what_the_library_refuses_is_told_with_a_cure(expanded, content, expected, capsys):
    with pytest.raises(ConfigError) as caught:
        expanded(content)

    [fault] = caught.value.faults
    assert fault.startswith("scene.assets[0].path: ")
    assert expected in fault
    assert fault.count(expected) == 1
    assert "<class" not in fault
    assert not capsys.readouterr().err


def test_a_missing_library_names_the_extra(expanded, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)

    with pytest.raises(ConfigError, match=r"install pippin\[xacro\], or use `uv run --group xacro`$"):
        expanded("")
