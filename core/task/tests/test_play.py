"""`pippin play`: a policy from a file acts in the task of another one, and the run folder says so."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper
from pippin.cli import main

TASK = "docs/examples/tasks/inverted_pendulum.toml"

LEFT_OUT = pytest.mark.filterwarnings("ignore:.*left out, as written for type 'mujoco'. integrator")
"""Another solver has no key `integrator`, or values of its own."""


@pytest.fixture
def policy(tmp_path):
    """A linear law that holds the pole up: the force against its angle and its rate."""
    gains = np.array([[0.5], [9.0], [0.8], [1.4]], np.float32)
    nodes = [helper.make_node("MatMul", ["observations", "gains"], ["action"])]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, width])
        for name, width in (("observations", 4), ("action", 1))
    ]
    graph = helper.make_graph(nodes, "law", values[:1], values[1:], [numpy_helper.from_array(gains, "gains")])
    file = tmp_path / "law.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    return file


def play(*words):
    return CliRunner().invoke(main, ["play", TASK, "--set", "simulation.device='cpu'", *map(str, words)])


@pytest.mark.required
def test_a_policy_acts_in_the_task_of_a_file(policy, tmp_path):
    out = tmp_path / "run"

    result = play("--policy", policy, "--set", "scene.worlds=2", "--steps", 60, "--out", out, "--json")

    assert result.exit_code == 0, result.output
    summary = json.loads((out / "summary.json").read_text())
    assert summary["captured"]
    assert summary["task"]["unfinished"] == {"episodes": 2, "mean_return": 60.0, "mean_length": 60.0}
    assert "no episode has ended; that run on: 2 (mean return 60 so far" in result.stderr
    assert summary["notes"]["policy"] == [f"the actions are those of '{policy}'"]
    with np.load(out / "series.npz") as series:
        angles = series["joint_q"][:, 0, 1]
        assert np.ptp(series["episode"]) == 0, "no episode ended"
        np.testing.assert_array_equal(series["task/return"][:, 0], np.arange(1, 61))
    assert np.abs(angles).max() < 0.2
    assert np.abs(angles[-10:]).max() < 0.02


@LEFT_OUT
def test_each_of_some_episodes_counts_once_whether_it_is_short_or_long(policy, tmp_path):
    """A push at the start lets the pole of some worlds fall, which begin no second episode."""
    words = ["--policy", policy, "--solver", "mujoco-native", "--episodes", 16, "--out", tmp_path / "run", "--json"]
    words += ["--set", "task.episode_length=2", "--set", "task.events.start.velocity=[-2.0, 2.0]"]

    result = play(*words)

    assert result.exit_code == 0, result.output
    score = json.loads(result.stdout)["task"]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["plugins"]["solver"]["type"] == "mujoco-native"
    assert (summary["steps"], score["episodes"], score["unfinished"]["episodes"]) == (50, 16, 0)
    assert 0 < score["terminated"] < 16
    assert score["mean_return"] == score["mean_length"] - score["terminated"] / 16 < 50.0, "a fall is not paid"
    assert f"± {score['mean_return_half_width']:.2g} at 95 %" in result.stderr
    assert 'id="task"' in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--steps", 3], "--steps: --episodes plays whole episodes; give only one of the two"),
        (["--duration", 3], "--duration: --episodes plays whole episodes; give only one of the two"),
        (["--worlds", 3], "--set: scene.worlds is also set by --episodes; leave it out"),
    ],
)
def test_what_does_not_fit_some_episodes_is_refused(words, message, policy, tmp_path):
    result = play("--policy", policy, "--episodes", 2, "--out", tmp_path / "run", *words)

    assert result.exit_code == 2
    assert message in result.stderr


def test_episodes_without_an_end_are_refused(policy, tmp_path):
    file = tmp_path / "endless.toml"
    file.write_text(Path(TASK).read_text().replace("episode_length = 40.0", "#"))

    result = CliRunner().invoke(main, ["play", str(file), "--policy", str(policy), "--episodes", "2"])

    assert result.exit_code == 2
    assert "endless.toml has no task.episode_length; set how long an episode is [s]" in result.stderr


@LEFT_OUT
def test_another_solver_may_ignore_numbers_but_no_part_of_a_robot(policy, tmp_path):
    """The motors of the file are MuJoCo's own; armature is a number that semi-implicit lacks."""
    words = ["--set", "scene.assets.0.armature=0.1", "--steps", 1, "--out", tmp_path / "run"]

    result = play("--policy", policy, "--solver", "semi-implicit", *words)

    assert result.exit_code == 2
    assert "'semi-implicit' does not support asset_actuators" in result.stderr
    assert "armature (" not in result.stderr


def test_a_policy_that_is_not_there_is_named(tmp_path):
    result = play("--policy", tmp_path / "none.onnx", "--steps", 1, "--out", tmp_path / "run")

    assert result.exit_code == 2
    assert "none.onnx" in result.stderr


def test_a_file_without_a_task_has_nothing_to_play(policy, tmp_path):
    words = ["play", "docs/examples/cartpole.toml", "--policy", str(policy), "--out", str(tmp_path / "run")]

    result = CliRunner().invoke(main, words)

    assert result.exit_code == 2
    assert "task" in result.stderr
