"""Code of plugins that a file names: commands that show a file do not run it, and commands that run a file do."""

import json

import pippin
import pytest
from click.testing import CliRunner
from pippin.assembly import build_poses
from pippin.catalog.outside import untrusted
from pippin.cli import main

PLUGIN = """
import pathlib
import attrs, pippin
pathlib.Path(__file__).with_name("ran").write_text("")

class Own:
    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def close(self):
        pass

@attrs.frozen
class OwnConfig:
    implementation = "Own"
    size: int = 3
    other: float = 1.5
"""

FILE = """
[simulation]
device = "cpu"
[scene]
[[scene.assets]]
path = "ball.xml"
[solver]
type = "xpbd"
[plugins.own]
type = "own.py:OwnConfig"
size = 7
[plugins.own.table]
"a-b" = [1, 2]
"""


@pytest.fixture
def folder(tmp_path):
    """A folder as of a run, with a plugin beside its configuration."""
    ball = '<mujoco><worldbody><body><freejoint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>'
    (tmp_path / "ball.xml").write_text(ball)
    (tmp_path / "own.py").write_text(PLUGIN)
    (tmp_path / "config.toml").write_text(FILE.rpartition("[plugins.own.table]")[0])
    return tmp_path


def call(folder, command, *words):
    """Return the result of a command, and whether the plugin's code ran."""
    result = CliRunner().invoke(main, [command, str(folder / "config.toml"), *words])
    return result, (folder / "ran").exists()


def test_show_prints_the_table_of_a_plugin_as_it_is_written(folder):
    (folder / "config.toml").write_text(FILE)
    result, has_run = call(folder, "show", "--json")

    assert (result.exit_code, has_run) == (0, False), result.output
    own = json.loads(result.stdout)["config"]["plugins"]["own"]
    assert own == {"type": f"{folder / 'own.py'}:OwnConfig", "size": 7, "table": {"a-b": [1, 2]}}


def test_show_prints_all_keys_with_trust(folder):
    result, has_run = call(folder, "show", "--trust")

    assert (result.exit_code, has_run) == (0, True), result.output
    assert "other = 1.5" in result.stdout


@pytest.mark.parametrize("command", ["check", "inspect"])
def test_a_command_that_builds_refuses_code_without_trust(folder, command):
    result, has_run = call(folder, command)

    assert (result.exit_code, has_run) == (3, False)
    assert "config.toml:10: plugins.own.type: plugin 'OwnConfig' of" in result.output
    assert "its code would run, and the file may be somebody else's: read it; add --trust" in result.output


def test_a_module_that_a_file_names_is_not_imported(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "config.toml").write_text((folder / "config.toml").read_text().replace("own.py:", "own:"))

    result, has_run = call(folder, "show")
    refused, also = call(folder, "check")

    assert (result.exit_code, has_run, refused.exit_code, also) == (0, False, 3, False), result.output


def test_programs_of_an_environment_that_a_file_names_do_not_run(folder):
    program = folder / "envs/x/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\ntouch '{folder / 'ran'}'\n")
    program.chmod(0o755)
    text = FILE.partition("[plugins.own]")[0].replace('"xpbd"', '"mujoco-native"\nenvironment = "envs/x"')
    (folder / "config.toml").write_text(text)

    results = {command: call(folder, command) for command in ("show", "inspect", "check")}
    named = call(folder, "check", "--set", f"solver.environment={folder / 'envs/x'}")[1]

    assert {command: has_run for command, (_, has_run) in results.items()} == dict.fromkeys(results, False)
    assert (
        f"solver.environment: the programs in '{folder / 'envs/x'}' would run; add --trust"
        in results["check"][0].output
    )
    assert named


def test_what_the_user_names_runs(folder):
    result, has_run = call(folder, "show", "--plugin", f"mine={folder / 'own.py'}:OwnConfig")

    assert (result.exit_code, has_run) == (0, True), result.output


def test_a_replay_builds_the_model_alone(folder):
    with untrusted(is_kept=True):
        config = pippin.Run(folder).config
        build_poses(config, 1)

        with pytest.raises(pippin.PluginError, match="add --trust"), pippin.Simulation(config):
            pass

    assert not (folder / "ran").exists()


def test_a_run_is_the_command_to_run_a_file(folder):
    result, has_run = call(folder, "run", "--steps", "1", "--out", str(folder / "out"), "--record-worlds", "0")

    assert (result.exit_code, has_run) == (0, True), result.output
