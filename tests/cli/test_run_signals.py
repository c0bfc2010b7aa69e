"""SIGTERM and SIGHUP end each command as Ctrl-C does, in each of its states: what was computed is there, and opens."""

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pippin
import pytest
from pippin.config import toml_text

from ..sessions import Command, open_all

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
QUADRUPED, CARTPOLE = EXAMPLES / "quadruped.toml", EXAMPLES / "training/cartpole.toml"
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

LONG = ("--steps", "100000000")
SMALL = ("--set", "scene.worlds=2", "--device", "cpu")
ROWS = ("--set", "recorders.log={type='npz', flush_period=0.0}")
MORE = ("--set", "recorders.a={type='hdf5', flush_period=0.0}", "--set", "recorders.b={type='mcap', flush_period=0.0}")
SLOW = ("--set", "optimise.optimiser=adam", "--set", "optimise.learning_rate=1e-5", "--set", "optimise.tolerance=0.0")
MANY = ("--iterations", "1000000")
LOG = ("--log", "log.npz", "--set", "fit.starts=1", "--set", "fit.tolerance=1e-300", *MANY)
COMMANDS = {
    "run": (("run", QUADRUPED, *SMALL, *LONG, *ROWS, *MORE), "log.npz.rows"),
    "run in two processes": (("run", QUADRUPED, *SMALL, *LONG, *ROWS, "--processes", "2"), "shards/*/log.npz.rows"),
    "play": (("play", EXAMPLES / "policies/cartpole.toml", *SMALL, *LONG, *ROWS), "log.npz.rows"),
    "train": (("train", CARTPOLE, *SMALL, "--set", "trainer.save_period=1000000"), "training.csv"),
    "sweep": (("sweep", QUADRUPED, *SMALL, *LONG, "--over", "simulation.seed=1,2"), "variants/*"),
    "fit": (("fit", "arm.toml", *LOG), "iterations/0*.npz"),
    "optimise": (("optimise", EXAMPLES / "throw.toml", *SLOW, *MANY), "optimise .*[0-9]"),
    "tune": (("tune", QUADRUPED), ""),
    "benchmark": (("benchmark", "featherstone"), "featherstone \\("),
    "view": (("view", QUADRUPED, *SMALL[:2], "--no-browser"), "page: http"),
}
"""Words of each command, and what tells that it computes: a file of its folder, or a line."""

LINES = ("optimise", "benchmark", "view")
"""Commands of which a line tells it."""

PENDULUM = """<mujoco><worldbody><body><inertial pos="0 0 -.2" mass="1" diaginertia=".01 .01 .001"/>
<joint name="shoulder" axis="0 1 0"/></body></worldbody></mujoco>"""


def write_fit(folder):
    """Write a file with a table [fit], and its log: a pendulum that swings freely."""
    (folder / "pendulum.xml").write_text(PENDULUM)
    times = np.arange(0.0, 4.0, 0.01)
    angles = 0.3 * np.exp(-0.3 * times) * np.cos(6.0 * times)
    arrays = {"time": times, "position": angles[:, None], "command": np.zeros((len(times), 1))}
    np.savez(folder / "log.npz", **arrays, joints=np.array(["shoulder"]))
    drive = {"type": "pd", "joints": [".*"], "kp": 3.0, "kd": 0.1, "armature": 0.01, "damping": 0.1}
    ranges = {"armature": [1e-4, 1.0], "damping": [1e-3, 5.0], "kp": [0.1, 50.0], "kd": [1e-3, 5.0]}
    tables = {
        "simulation": {"dt": 0.001, "device": "cpu"},
        "scene": {"assets": [{"path": "pendulum.xml"}]},
        "solver": {"type": "mujoco-native"},
        "actuators": {"arm": drive},
        "fit": {"parameters": {f"actuators.arm.{name}": {"range": ends} for name, ends in ranges.items()}},
    }
    (folder / "arm.toml").write_text(toml_text(tables), encoding="utf-8")


def started(command, folder):
    """Start a command; what it needs is installed, or the test is skipped."""
    if command == "train":
        pytest.importorskip("rsl_rl")
    if command == "fit":
        write_fit(folder)
    return Command(COMMANDS[command][0], folder, out=None if command == "view" else "--out")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_builds_ends_as_by_ctrl_c(command, name, tmp_path):
    running = started(command, tmp_path)
    running.until(lambda: re.search(r"^(build|tune|featherstone|run +(0 of|\.\.\.))", running.text(), re.MULTILINE))

    code, text = running.end(name, whole=command == "run in two processes")

    assert code == 130, text
    assert text.splitlines()[-1] == "stopped"
    assert "Traceback" not in text
    open_all(running.out)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", [each for each in COMMANDS if each != "tune"])  # it takes milliseconds
def test_a_command_that_computes_ends_as_by_ctrl_c(command, name, tmp_path):
    running, sign = started(command, tmp_path), COMMANDS[command][1]
    if command in LINES:
        running.until(lambda: re.search(rf"^({sign})", running.text(), re.MULTILINE))
    else:
        running.until(lambda: any(path.is_dir() or path.stat().st_size > 300 for path in running.out.glob(sign)))
    time.sleep(1.0)

    code, text = running.end(name, whole=command == "run in two processes")

    assert code == (0 if command == "view" else 130), text
    if command == "view":
        with pytest.raises(OSError, match="refused"):
            urllib.request.urlopen(re.search(r"http://[^/ ]*", text)[0])
    assert text.splitlines()[-1] == "stopped"
    assert "Traceback" not in text
    files = open_all(running.out)
    if command.startswith(("run", "play")):
        assert json.loads((running.out / "summary.json").read_text())["failure"] == "stopped"
        with pippin.Run(running.out) as run:
            recordings = run.recordings.values()
            assert all(np.isfinite(each["joint_q"].values[:]).all() for each in recordings)
            assert {"log"} <= set(run.recordings)
        assert {"config.toml", "log.npz", "report.html"} <= files
    if command == "train":
        assert json.loads((running.out / "training.json").read_text())["iteration"] > 0
        assert "policy.onnx" in files
    if command == "fit":
        assert {"identified.toml", "summary.json", "report.html"} <= files
    if command == "optimise":
        assert {"optimised.toml", "summary.json", "report.html"} <= files


@pytest.mark.parametrize("name", NAMES)
def test_a_command_that_is_imported_ends_at_once(name, tmp_path):
    running = Command(("run", QUADRUPED), tmp_path)
    time.sleep(0.3)

    code, text = running.end(name)

    assert (code, text.splitlines()[-1]) == (130, "stopped")
    assert "Traceback" not in text
    assert not running.out.exists()


@pytest.mark.slow
def test_a_killed_run_can_be_viewed(tmp_path):
    """Its configuration is written at the start."""
    running = Command(COMMANDS["run"][0], tmp_path)
    names = ("log.npz.rows", "a.h5", "b.mcap")
    running.until(lambda: all((running.out / name).is_file() for name in names))
    running.until(lambda: all((running.out / name).stat().st_size > 100_000 for name in names))

    running.end("SIGKILL")

    with pippin.Run(running.out) as run:
        assert run.config is not None
        assert run.summary is None
        assert set(run.recordings) == {"log", "a", "b"}
        for recording in run.recordings.values():
            np.testing.assert_allclose(np.diff(recording.time), recording.header.period, rtol=1e-6)
            assert len(recording.time) == len(recording["joint_q"].values) > 3
            assert np.isfinite(recording["joint_q"].values[:]).all()


def test_a_signal_that_is_ignored_stays_so(tmp_path):
    """As by `nohup`: the terminal may close."""
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from pippin.studies import stopped_between_steps\n"
        "with stopped_between_steps() as stop: signal.raise_signal(signal.SIGHUP); stop()\n"
        "print(signal.getsignal(signal.SIGHUP).name, signal.getsignal(signal.SIGTERM).name)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.stdout == "SIG_IGN SIG_DFL\n", done.stderr
