"""Configurations written back: as plain data, as TOML, and by `pippin show`."""

import json
import tomllib

import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.config import dump_toml, structure, toml_text, unstructure

ANT = {
    "simulation": {"dt": 1e-05, "device": "cuda:0"},
    "scene": {"worlds": 3, "assets": [{"path": "/a.xml", "ignore": ["x\\y\"z'\x7f\n"]}, {"path": "pkg:b/c.xml"}]},
    "solver": {"type": "pippin-solver-xpbd:xpbd", "iterations": 5},
    "actuators": {
        "left legs": {
            "type": "pd",
            "joints": [".*hip.*"],
            "kp": {".*hip.*": 40.0, 'k"é': 1.0},
            "delay": {"steps": 2},
            "clamping": [{"type": "max-effort", "max_effort": 2.0}],
        }
    },
    "sensors": {"torso": {"type": "imu", "body": "torso"}},
}


def test_plain_data_give_the_same_configuration_again():
    config = structure(ANT)

    assert structure(unstructure(config)) == config


def test_toml_gives_the_same_configuration_again():
    config = structure(ANT)

    assert structure(tomllib.loads(dump_toml(config))) == config


def test_defaults_are_written_and_none_is_not():
    simulation = unstructure(structure(ANT))

    assert simulation["simulation"]["decimation"] == 1
    assert "up_axis" not in simulation["scene"]["assets"][0]
    assert "plugins" not in simulation


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": 1, "b": {"c": True, "d": {}}, "e": [[1, 2], []]},
        {"b": {"c": [{"x": 1, "y": {"z": 2}}, {}]}, "a": [1, {"x": "mixed"}]},
        {"a": [1e300, -0.0, 1e-300, 1e22], "": "empty key", "é.ü": "\u0000\u001f\U0001f332"},
    ],
)
def test_any_tree_of_tables_survives_as_toml(data):
    assert tomllib.loads(toml_text(data)) == data


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.toml").write_text("[simulation]\nseed = 1\n\ndt = 0.01\n[scene]\nworlds = 2\n")
    (tmp_path / "ant.toml").write_text(
        'extends = ["base.toml"]\n'
        '[[scene.assets]]\npath = "ant.xml"\n'
        '[solver]\ntype = "mujoco"\nnjmax = 9\n'
        '[actuators.legs]\ntype = "pd"\njoints = [\n  "hip",\n]\nkp = { ".*hip.*" = 4 }\n'
    )
    return tmp_path


def show(*arguments):
    result = CliRunner().invoke(main, ["show", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("dt", "dt = 0.02 # --set"),
        ("seed", "seed = 1 # base.toml:2"),
        ("decimation", "decimation = 1 # default"),
        ("worlds", "worlds = 2 # base.toml:6"),
        ("njmax", "njmax = 9 # ant.toml:6"),
        ("joints", 'joints = ["hip"] # ant.toml:9'),
        ('".*hip.*"', '".*hip.*" = 4.0 # ant.toml:12'),
        ("steps", "steps = 3 # --set"),
    ],
)
def test_each_value_is_shown_with_its_origin(files, key, line):
    output = show("ant.toml", "--set", "simulation.dt=0.02", "--set", "actuators.legs.delay.steps=3")

    found = [" ".join(shown.split()) for shown in output.splitlines() if shown.startswith(f"{key} =")]
    assert line in found


def test_what_is_shown_loads_as_the_same_configuration(files):
    (files / "elsewhere").mkdir()
    (files / "elsewhere" / "shown.toml").write_text(show("ant.toml"))

    assert pippin.load("elsewhere/shown.toml") == pippin.load("ant.toml")


def test_json_holds_the_configuration_and_the_origin_of_each_key(files):
    shown = json.loads(show("ant.toml", "--json", "--set", "scene.ground=true"))

    assert structure(shown["config"]) == pippin.load("ant.toml", {"scene.ground": True})
    assert shown["origins"]["scene.ground"] == "--set"
    assert shown["origins"]["scene.assets.0.path"] == "ant.toml:3"
    assert shown["origins"]['actuators.legs.kp.".*hip.*"'] == "ant.toml:12"


@pytest.mark.parametrize(("override", "exit_code"), [("solver.njmax=x", 2), ("solver.type=none", 3)])
def test_wrong_configuration_and_wrong_plugin_have_their_own_exit_codes(files, override, exit_code):
    result = CliRunner().invoke(main, ["show", "ant.toml", "--set", override])

    assert result.exit_code == exit_code
    assert "--set: solver." in result.output
