"""`pippin env`: what it shows, what it refuses, and an environment that it really makes."""

import json
import sys
from pathlib import Path

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_engines.environments import RECORD, EngineEnvironment

ANT = Path(__file__).parents[3] / "docs" / "examples" / "ant.toml"


def env(*arguments, code=0, **options):
    """Call `pippin env`, and return what it said."""
    result = CliRunner().invoke(main, ["env", *map(str, arguments)], **options)
    assert result.exit_code == code, result.output
    return result.output


def test_licence_and_size_are_shown_before_anybody_is_asked(tmp_path):
    told = env("add", "mujoco-native", "--with", "mujoco==4.0.*", "--to", tmp_path / "four", code=2)

    assert "packages  mujoco==4.0.*, numpy, and what they need\nlicence   Apache-2.0\nsize      about " in told
    assert "nobody can be asked here; read the licence, and add --yes if you agree" in told
    assert not (tmp_path / "four").exists()


def test_a_solver_without_an_engine_is_refused():
    told = env("add", "xpbd", "--yes", code=2)

    assert "xpbd: this solver needs no engine of another environment; those that have one: " in told
    assert "mujoco-native" in told


def test_an_existing_folder_is_refused(tmp_path):
    assert f"{tmp_path}: exists; remove it by" in env("add", "mujoco-native", "--to", tmp_path, "--yes", code=2)


def test_a_folder_of_others_is_never_deleted(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("work of years")

    assert "no environment that `pippin env add` made" in env("remove", tmp_path / "mine", "--yes", code=2)
    assert (tmp_path / "mine" / "thesis.txt").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"packages": 3}'])
def test_a_damaged_record_is_named(tmp_path, text):
    (tmp_path / RECORD).write_text(text)

    with pytest.raises(pippin.ConfigError, match=rf"{RECORD}"):
        EngineEnvironment.read(tmp_path)


def test_a_failing_installation_leaves_no_folder(tmp_path):
    told = env("add", "mujoco-native", "--with", "mujoco==0.0.1", "--to", tmp_path / "none", "--yes", code=2)

    assert "`uv pip install` failed with exit code" in told
    assert "mujoco==0.0.1" in told
    assert not (tmp_path / "none").exists()


def end_of_ant(environment):
    """Return the joints of an ant that falls on the ground for half a second."""
    solver = {"type": "mujoco-native", "environment": environment}
    config = pippin.load(ANT, {"scene.worlds": 1, "simulation.device": "cpu", "solver": solver})
    with pippin.Simulation(config) as simulation:
        simulation.step(round(0.5 / simulation.control_dt))
        return simulation.state.joint_q.numpy().copy()


@pytest.mark.slow
def test_an_environment_is_made_checked_listed_used_and_removed(tmp_path):
    folder = tmp_path / "envs" / "four"
    told = env("add", "mujoco-native", "--with", "mujoco==4.0.*", "--to", folder, "--yes")

    assert "mujoco 4.0." in told
    assert f'environment = "{folder}"' in told
    record = json.loads((folder / RECORD).read_text())
    assert record["packages"]["mujoco"][1] == "Apache-2.0"
    assert f"answers in {folder}: Python {sys.version.split()[0]}" in env("check", folder)
    assert "four  mujoco-native  mujoco==4.0.*" in env("list", "--in", folder.parent)
    here, there = (end_of_ant(environment) for environment in (None, str(folder)))
    assert here[2] < 0.8  # it has fallen
    np.testing.assert_allclose(there, here, rtol=0.0, atol=1e-6)
    (folder / RECORD).write_text(json.dumps({**record, "packages": {"mujoco": ["3.0.0", ""]}}))
    assert "has mujoco 4.0." in env("check", folder, code=2)
    env("remove", folder, "--yes")
    assert not folder.exists()
