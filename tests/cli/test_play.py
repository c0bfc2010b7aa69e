"""`pippin play`: a policy from a file acts in the task of another one, and the run folder says so."""

import json

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper
from pippin.cli import main

TASK = "docs/examples/tasks/inverted_pendulum.toml"


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


def test_a_policy_that_is_not_there_is_named(tmp_path):
    result = play("--policy", tmp_path / "none.onnx", "--steps", 1, "--out", tmp_path / "run")

    assert result.exit_code == 2
    assert "none.onnx" in result.stderr


def test_a_file_without_a_task_has_nothing_to_play(policy, tmp_path):
    words = ["play", "docs/examples/cartpole.toml", "--policy", str(policy), "--out", str(tmp_path / "run")]

    result = CliRunner().invoke(main, words)

    assert result.exit_code == 2
    assert "task" in result.stderr
