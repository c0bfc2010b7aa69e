"""SIGTERM and SIGHUP end each command as Ctrl-C does, in each of its states: what was computed is there, and opens."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pippin
import pytest

from ..sessions import is_gone, wait_for

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
QUADRUPED, CARTPOLE = EXAMPLES / "quadruped.toml", EXAMPLES / "training/cartpole.toml"
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

LONG = ("--steps", "100000000")
SMALL = ("--set", "scene.worlds=2", "--device", "cpu")
ROWS = ("--set", "recorders.log={type='npz', flush_period=0.0}")
MORE = ("--set", "recorders.a={type='hdf5', flush_period=0.0}", "--set", "recorders.b={type='mcap', flush_period=0.0}")
ENDLESS = ("--set", "optimise.tolerance=0.0", "--iterations", "1000000")
LOG = ("--log", "log.npz", "--set", "fit.starts=1", "--set", "fit.tolerance=0.0", "--iterations", "100000")
COMMANDS = {
    "run": (("run", QUADRUPED, *SMALL, *LONG, *ROWS, *MORE), "log.npz.rows"),
    "run in two processes": (("run", QUADRUPED, *SMALL, *LONG, *ROWS, "--processes", "2"), "shards/*/log.npz.rows"),
    "play": (("play", EXAMPLES / "policies/cartpole.toml", *SMALL, *LONG, *ROWS), "log.npz.rows"),
    "train": (("train", CARTPOLE, *SMALL, "--set", "trainer.save_period=1000000"), "training.csv"),
    "sweep": (("sweep", QUADRUPED, *SMALL, *LONG, "--over", "simulation.seed=1,2"), "variants/*"),
    "fit": (("fit", "arm.toml", *LOG), "iterations/0*.npz"),
    "optimise": (("optimise", EXAMPLES / "throw.toml", *ENDLESS), "optimise"),
    "tune": (("tune", QUADRUPED), "tune"),
    "benchmark": (("benchmark", "featherstone"), "held|order|dt"),
    "view": (("view", QUADRUPED, *SMALL[:2], "--no-browser"), "page: http"),
}
"""Words of each command, and what tells that it computes: a file of its folder, or a line."""

LINES = ("optimise", "tune", "benchmark", "view")
"""Commands whose lines tell it."""

FOLDERLESS = ("view",)


class Command:
    """A command in a session of its own, as its script starts it."""

    def __init__(self, words, folder, out="--out"):
        code = "import pippin_start; pippin_start.main()"
        self.out, options = folder / "out", [out, folder / "out"] if out else []
        self.log = (folder / "log.txt").open("w+")
        arguments = [sys.executable, "-c", code, *words, *options]
        self.process = subprocess.Popen(
            list(map(str, arguments)), stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True, cwd=folder
        )

    def text(self):
        return Path(self.log.name).read_text()

    def until(self, what):
        def is_so():
            assert self.process.poll() is None, self.text()
            return what()

        return wait_for(is_so, 120.0)

    def end(self, name, *, whole=False):
        """Send a signal, to all processes or to the first one, and return exit code and text."""
        (os.killpg if whole else os.kill)(self.process.pid, getattr(signal, name))
        try:
            code = self.process.wait(90.0)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
            self.log.close()
        assert is_gone(self.process.pid)
        return code, self.text()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_computes_ends_as_by_ctrl_c(command, name, tmp_path):
    if command == "train":
        pytest.importorskip("rsl_rl")
    words, sign = COMMANDS[command]
    running = Command(words, tmp_path)
    if not sign:  # its folder is written at the end
        running.until(lambda: running.text().count("\n") > 5)
    else:
        running.until(lambda: any(path.is_dir() or path.stat().st_size > 300 for path in running.out.glob(sign)))
    time.sleep(1.0)

    code, text = running.end(name, whole=command == "run in two processes")

    assert code == 130, text
    assert text.splitlines()[-1] == "stopped"
    assert "Traceback" not in text
    if command.startswith(("run", "play")):
        assert not [*running.out.rglob("*.rows")]
        assert json.loads((running.out / "summary.json").read_text())["failure"] == "stopped"
        with pippin.Run(running.out) as run:
            assert np.isfinite(run["joint_q"].values).all()
            assert run.config is not None
        assert (running.out / "report.html").stat().st_size > 10_000
    if command == "train":
        assert json.loads((running.out / "training.json").read_text())["iteration"] > 0
        assert (running.out / "policy.onnx").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_page_ends_as_by_ctrl_c(name, tmp_path):
    running = Command(("view", QUADRUPED, *SMALL[:2], "--no-browser", "--port", "8790"), tmp_path, out=None)
    running.until(lambda: "page: http" in running.text())
    time.sleep(1.0)

    code, text = running.end(name)

    assert code in (0, 130), text
    assert text.splitlines()[-1] == "stopped"
    assert "Traceback" not in text
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen("http://127.0.0.1:8790")


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
    running.until(lambda: any(path.stat().st_size > 20_000 for path in running.out.glob("*.rows")))

    running.end("SIGKILL")

    with pippin.Run(running.out) as run:
        assert run.config is not None
        assert len(run.time) > 0
        assert run.summary is None


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
