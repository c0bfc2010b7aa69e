"""Simulations as robots of LeRobot, and robots of LeRobot in Pippin, by the real library and its commands."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("PIPPIN_LEROBOT_ENV_PYTHON" not in os.environ, reason="no interpreter with lerobot 0.6"),
]

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
ARM, EMULATED = EXAMPLES / "so101.toml", EXAMPLES / "so101_robot.toml"

DRIVEN = """
extends = ["{arm}"]
[robot]
type = "lerobot"
rate = 50
robot = {{ type = "so101_follower", port = "{port}", id = "bus", calibration_dir = "{folder}" }}
[robot.joints]
shoulder_pan = {{ unit = "degrees", zero = 0.0 }}
shoulder_lift = {{ unit = "degrees", zero = 0.0 }}
elbow_flex = {{ unit = "degrees", zero = 0.0 }}
wrist_flex = {{ unit = "degrees", zero = 0.0 }}
wrist_roll = {{ unit = "degrees", zero = -2.77 }}
gripper = {{ unit = "range_0_100", range = [-0.174533, 1.745329] }}
[robot.safety]
max_late = 50
watchdog = 1.0
"""


@pytest.fixture
def lerobot(tmp_path):
    """Return a function that runs a command of LeRobot's environment, and returns its output."""
    folder = Path(os.environ["PIPPIN_LEROBOT_ENV_PYTHON"]).parent
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}

    def run(name, *arguments, code=0):
        command = [str(each) for each in (folder / name, *arguments)]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended.stdout + ended.stderr

    return run


def test_a_simulation_is_recorded_and_replayed_as_a_robot(lerobot, tmp_path):
    """The follower of a real arm is a simulation here, and its leader the motions of the file: 2 s at 25 Hz."""
    from pyarrow import parquet

    robot = ["--robot.type=pippin", f"--robot.file={ARM}", "--robot.rate=25", "--robot.zero=middle"]
    robot += ['--robot.units={"gripper": "range_0_100"}']
    teleop = [each.replace("--robot", "--teleop") for each in robot]
    data = ["--dataset.repo_id=pippin/arm", f"--dataset.root={tmp_path / 'data'}"]
    recording = ["--dataset.single_task=wave", "--dataset.num_episodes=1", "--dataset.fps=25"]
    recording += ["--dataset.episode_time_s=4", "--dataset.reset_time_s=0", "--dataset.push_to_hub=false"]
    lerobot("lerobot-record", *robot, *teleop, *data, *recording, "--play_sounds=false")

    info = json.loads((tmp_path / "data/meta/info.json").read_text())
    assert (info["robot_type"], info["fps"]) == ("pippin", 25)
    assert info["features"]["action"]["names"][:2] == ["shoulder_pan.pos", "shoulder_lift.pos"]
    [file] = (tmp_path / "data").glob("data/chunk-*/file-*.parquet")
    table = parquet.read_table(file)
    state, action = (np.array(table[name].to_pylist()) for name in ("observation.state", "action"))
    assert len(state) > 50  # 100 on a machine that is free
    assert state[0] == pytest.approx([0.0, -34.38, 34.38, 22.92, -2.78, 9.11], abs=0.02)
    sine = np.degrees(0.8) * np.sin(2.0 * np.pi * 0.25 * 0.04 * np.arange(1, len(action) + 1))
    assert action[:, 0] == pytest.approx(sine, abs=0.7)  # a motion's targets are those of the begin of a step
    assert np.abs(state[1:, 0] - action[:-1, 0]).max() < 6.0

    lerobot("lerobot-replay", *robot, *data, "--dataset.episode=0", "--play_sounds=false")


@contextmanager
def emulated(tmp_path):
    """Let the SO-101 be at `tmp_path/bus`, calibrated as LeRobot's `bus` in `tmp_path`."""
    log = tmp_path / "emulate.log"
    command = [Path(sys.executable).parent / "pippin", "emulate", EMULATED, "--calibrated", tmp_path]
    command += ["--set", f'robot.port="{tmp_path / "bus"}"']
    with log.open("w") as out:
        program = subprocess.Popen([str(each) for each in command], stdout=out, stderr=out)
    try:
        while program.poll() is None and "the robot is at" not in log.read_text():
            time.sleep(0.2)
        yield
    finally:
        program.terminate()
        program.wait()


def test_pippin_drives_a_class_of_lerobot(lerobot, tmp_path):
    """`pippin drive` to LeRobot's `SO101Follower` to the emulated bus: the arm follows the motions of the file."""
    file = tmp_path / "driven.toml"
    file.write_text(DRIVEN.format(arm=ARM, port=tmp_path / "bus", folder=tmp_path))
    with emulated(tmp_path):
        lerobot("pippin", "drive", file, "--duration", "6", "--yes", "--out", tmp_path / "run")
        wrong = DRIVEN.format(arm=ARM, port=tmp_path / "bus", folder=tmp_path / "other")
        file.write_text(wrong)
        told = lerobot("pippin", "drive", file, "--duration", "4", "--yes", code=2)
    assert "the motors have no calibration like that in" in told

    series = np.load(tmp_path / "run/series.npz")
    pan, targets = series["joint_q"].squeeze()[:, 0], series["actuators/arm/position_targets"].squeeze()[:, 0]
    moving = targets[100:]
    assert np.ptp(moving) > 0.7
    assert np.corrcoef(pan[100:], moving)[0, 1] > 0.98
    assert np.abs(pan[100:] - moving).max() < 0.25
