"""`pippin inspect`: what it prints, and that its errors are those of the other commands."""

import json

import newton.examples
import pytest
from click.testing import CliRunner
from pippin.cli import main

ARM = """<mujoco><worldbody><body name="upper"><joint name="shoulder[1]" axis="0 1 0" range="0 90"/>
<geom size=".05" mass="1"/><site name="tip" pos=".1 0 0"/></body></worldbody></mujoco>"""


@pytest.fixture
def inspect(tmp_path):
    """Return a function that inspects the arm, or another file, and returns exit code, output and errors."""
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "arm.toml").write_text('[[scene.assets]]\npath = "arm.xml"\njoint_positions = { ".*" = 0.5 }\n')

    def inspect(*arguments, name="arm.xml"):
        result = CliRunner().invoke(main, ["inspect", str(tmp_path / name), *arguments])
        return result.exit_code, result.stdout, result.stderr

    return inspect


def test_the_tables_have_every_name_with_units_in_the_headings(inspect):
    code, text, _ = inspect()

    assert code == 0
    lines = [line.split() for line in text.splitlines()]
    assert text.splitlines()[0].endswith("(mjcf): 1 kg, 1 degrees of freedom; bodies 1, joints 1, shapes 1, sites 1")
    assert ["body", "parent", "mass", "[kg]", "centre", "of", "mass", "[m]"] in lines
    assert ["shoulder[1]", "revolute", "upper", "0", "1", "0", "0", "1.5708", "0"] in lines


def test_an_installed_file_is_named_without_the_folder_of_packages(inspect):
    _, text, _ = inspect(name=newton.examples.get_asset("nv_ant.xml"))

    assert text.startswith("newton/examples/assets/nv_ant.xml (mjcf): ")


def test_a_configuration_shows_its_assets_with_their_options(inspect):
    _, text, _ = inspect("--json", name="arm.toml")

    [contents] = json.loads(text)
    assert contents["joints"][0]["start"] == [0.5]
    assert contents["sites"][0]["position"] == [0.1, 0.0, 0.0]


def test_an_option_of_a_robot_file_is_set_on_its_asset(inspect):
    _, text, _ = inspect("--json", "--set", "scene.assets.0.scale=2")

    assert json.loads(text)[0]["sites"][0]["position"] == [0.2, 0.0, 0.0]


def test_a_missing_file_is_the_error_of_check(inspect):
    code, _, errors = inspect(name="arn.xml")

    assert code == 2
    assert "error: scene.assets[0].path: no file" in errors
    assert "did you mean 'arm.xml'" in errors
