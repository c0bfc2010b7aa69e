"""Trainings of policies that must remember: a cart whose pole holds up by its velocity, which no observation has."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from onnx.reference import ReferenceEvaluator
from pippin.cli import main

pytest.importorskip("torch")


def lengths(out):
    with open(Path(out, "training.csv"), newline="") as file:
        return [float(row["mean_length"]) for row in csv.DictReader(file) if row["mean_length"]]


RECURRENT = {
    "rsl-rl": {"rnn_type": "gru", "rnn_hidden_dim": 32},
    "sb3-recurrent": {"lstm_hidden_size": 32},
}
MODULES = {"rsl-rl": "rsl_rl", "sb3-recurrent": "sb3_contrib"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_policy_balances_without_velocities(blind, name):
    """Most episodes are whole, with 200 steps. Without memory, they have 51 after the same steps."""
    pytest.importorskip(MODULES[name])
    played = blind("blind.toml", "out", type=name, iterations=25, **RECURRENT[name])

    assert played["mean_length"] > 120.0
    assert lengths("out")[0] < 30.0
    inputs = ReferenceEvaluator("out/policy.onnx").input_names
    assert inputs == ["observations", "h_in", *(["c_in"] if name == "sb3-recurrent" else [])]
    words = ["--policy", "out/policy.onnx", "--episodes", "8", "--json", "--out", "played"]
    again = CliRunner().invoke(main, ["play", "blind.toml", *words])
    score = json.loads(again.stdout.splitlines()[-1])["task"]
    widths = played["mean_return_half_width"] + score["mean_return_half_width"]
    assert abs(score["mean_return"] - played["mean_return"]) <= widths + 1e-6
