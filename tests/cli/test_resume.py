"""`pippin run --checkpoint` and `pippin resume`: a run in two halves is the run in one."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import numpy as np
import pytest
from click.testing import CliRunner
from pippin.cli import main

from ..scene_files import ARM

SCENE = """\
simulation = { dt = 0.002, decimation = 2, device = "cpu" }
solver = { type = "mujoco-native" }
[scene]
worlds = 2
[[scene.assets]]
path = "pendulum.xml"
joint_positions = { shoulder = 0.5 }
"""


@pytest.fixture
def pippin(tmp_path, monkeypatch):
    """Run a command beside a pendulum in control steps of 4 ms, in this process."""
    (tmp_path / "pendulum.xml").write_text(ARM)
    (tmp_path / "pendulum.toml").write_text(SCENE)
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, list(words))


def series(folder):
    with np.load(folder / "series.npz") as file:
        return {name: file[name] for name in ("time", "joint_q", "joint_qd")}


def test_two_halves_are_the_whole_to_the_bit(pippin, tmp_path):
    pippin("run", "pendulum.toml", "--steps", "30", "--out", "whole")

    first = pippin("run", "pendulum.toml", "--steps", "20", "--out", "first", "--checkpoint", "half.npz")
    second = pippin("resume", "half.npz", "--duration", "0.04", "--out", "second", "--checkpoint", "half.npz")

    assert (first.exit_code, second.exit_code) == (0, 0), second.output
    assert "checkpoint: half.npz, at t = 0.08 s" in first.output
    assert "checkpoint: half.npz, at t = 0.12 s" in second.output
    whole, halves = series(tmp_path / "whole"), [series(tmp_path / name) for name in ("first", "second")]
    for name, values in whole.items():
        assert np.concatenate([half[name] for half in halves]).tobytes() == values.tobytes(), name
    summary = json.loads((tmp_path / "second/summary.json").read_text())
    assert (summary["start_time"], summary["steps"], summary["simulated_time"]) == (0.08, 10, 0.04)
    assert (tmp_path / "second/config.toml").read_text() == (tmp_path / "first/config.toml").read_text()


def press_ctrl_c(folder):
    """Send this process the signal of Ctrl-C as soon as a run has written rows."""
    while not any(path.stat().st_size for path in folder.glob("*.rows")):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.slow
def test_ctrl_c_leaves_a_checkpoint_of_whole_steps(pippin, tmp_path):
    hand = threading.Thread(target=press_ctrl_c, args=[tmp_path / "stopped"], daemon=True)

    hand.start()
    words = ("--json", "--steps", "2000000", "--out", "stopped", "--checkpoint", "stopped.npz")
    result = pippin("run", "pendulum.toml", *words)
    hand.join()
    stopped = json.loads(result.stdout)["steps"]
    pippin("resume", "stopped.npz", "--steps", "5", "--out", "on")
    pippin("run", "pendulum.toml", "--steps", str(stopped + 5), "--out", "whole")

    assert result.exit_code == 130
    for name, values in series(tmp_path / "on").items():
        assert values.tobytes() == series(tmp_path / "whole")[name][-5:].tobytes(), name


@pytest.mark.filterwarnings("default:solver. MuJoCo")
def test_a_run_that_fails_keeps_the_checkpoint_of_before(pippin, tmp_path):
    (tmp_path / "before.npz").write_text("precious")

    failed = ("--set", "scene.gravity=[0.0, 0.0, -1e30]")
    result = pippin("run", "pendulum.toml", "--steps", "50", "--checkpoint", "before.npz", *failed)

    assert result.exit_code == 4
    assert "warning: solver: MuJoCo: Nan, Inf or huge value" in result.output
    assert "no checkpoint: the simulation failed" in result.output
    assert (tmp_path / "before.npz").read_text() == "precious"


@pytest.mark.parametrize("name", ["missing.npz", "pendulum.toml", "half.npz"])
def test_what_is_not_a_checkpoint_is_exit_code_2(name, pippin, tmp_path):
    np.savez(tmp_path / "foreign.npz", x=np.zeros(100))
    (tmp_path / "half.npz").write_bytes((tmp_path / "foreign.npz").read_bytes()[:300])

    result = pippin("resume", name)

    complaint = "no such file" if name == "missing.npz" else "not a checkpoint, or a truncated one"
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {name}: {complaint}")
    assert not (tmp_path / "runs").exists()


def test_a_checkpoint_without_a_place_is_refused_before_the_run(pippin, tmp_path):
    result = pippin("run", "pendulum.toml", "--checkpoint", "nowhere/half.npz")

    assert result.exit_code == 2
    assert "--checkpoint: 'nowhere/half.npz' cannot be written; name a file in a folder that exists" in result.stderr
    assert not (tmp_path / "runs").exists()
