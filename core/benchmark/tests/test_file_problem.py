"""`pippin compare --dt`: error against cost of a user's own file."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.errors import ConfigError
from pippin_benchmark.file_problem import compare_steps, distance

BODY = '<inertial mass="1" pos="0 0 -0.5" diaginertia="0.01 0.01 0.01"/><joint name="hinge" axis="0 1 0"/>'
SCENE = """
[simulation]
device = "cpu"
dt = 0.005
decimation = 2

[scene]
worlds = 2
[[scene.assets]]
path = "arm.xml"
joint_positions = { hinge = 1.0 }

[solver]
type = "mujoco-native"
"""


@pytest.fixture(scope="module")
def scene(write_files):
    robot = f"<mujoco><worldbody><body>{BODY}</body></worldbody></mujoco>"
    return write_files({"arm.xml": robot, "arm.toml": SCENE}) / "arm.toml"


@pytest.mark.slow
def test_the_error_of_a_file_falls_with_the_step_as_that_of_the_benchmark_does(scene):
    out = scene.parent / "out"
    words = ["--dt", "0.01,0.005", "--reference", "mujoco-native@0.0005", "--duration", "0.5", "--json"]
    chosen = ["--solver", "mujoco-native", "--solver", "style3d"]
    result = CliRunner().invoke(main, ["compare", str(scene), *chosen, *words, "--out", str(out)])
    found = json.loads(result.stdout)
    coarse, fine, unable = found["rows"]
    with (out / "benchmark.csv").open() as file:
        lines = list(csv.DictReader(file))

    assert result.exit_code == 2, "a named solver cannot run the file"
    assert unable["outcome"] == "unable"
    # First order in the step, less the error of the reference itself: (10 - 0.5) / (5 - 0.5).
    assert coarse["error"] / fine["error"] == pytest.approx(9.5 / 4.5, rel=0.05)
    assert found["reference"]["error"] == pytest.approx(fine["error"] * 0.5 / 4.5, rel=0.1)
    assert fine["cost"] > 0.0
    assert (found["worlds"], found["problems"]["arm"]["duration"]) == (2, 0.5)
    assert [float(line["error"]) for line in lines[:2]] == [coarse["error"], fine["error"]]
    assert "one of 2 worlds" in (out / "benchmark.html").read_text()


def test_a_distance_is_the_largest_root_mean_square_over_points():
    ours, theirs = np.zeros((3, 2, 3)), np.zeros((3, 2, 3))
    ours[1, 0] = (3.0, 0.0, 4.0)

    assert distance(ours, theirs) == pytest.approx(5.0 / np.sqrt(2.0))


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--reference", "xpbd"], "--reference: with --dt, expected SOLVER@DT, as mujoco-native@1e-4, got 'xpbd'"),
        (["--reference", "xpbd@0.01"], "--reference: its step of 0.01 s is not below 0.005 s"),
        (["--reference", "xpbd@0.003"], "--dt: a control step of the file lasts 0.01 s, no multiple of 0.003 s"),
        (["--reference", "xpbd@0.001", "--duration", "0.015"], "--duration: 0.015 s is no multiple of 0.01 s"),
        (
            ["--reference", "xpbd@0.001", "--duration", "nan"],
            "--duration: expected a positive time in seconds, got nan",
        ),
        (["--reference", "xpbd@0.001", "--limit", "penetration=1"], "--limit: with --dt, distance has a limit alone"),
        (["--reference", "xpbd@0.001", "--steps", "9"], "--steps: with --dt, give --duration"),
        (["--reference", "xpbd@0.001", "--dt", "0.01;0.005"], "--dt: expected seconds, separated by commas"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_runs(scene, words, fault):
    result = CliRunner().invoke(main, ["compare", str(scene), "--solver", "xpbd", "--dt", "0.01,0.005", *words])

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {fault}")


def test_steps_that_share_no_sample_are_refused(scene):
    changes = {"simulation": {"decimation": 1}}

    with pytest.raises(ConfigError, match=r"duration: 0.01 s is no multiple of 0.03 s"):
        compare_steps(scene, ["xpbd"], changes, dt=[0.01, 0.006], reference="xpbd@0.001", duration=0.01)
