"""Ctrl-C at any time of a command: one line, and exit code 130."""

import importlib.metadata
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ANT = Path(__file__).parents[1] / "docs/examples/ant.toml"

CODE = """
import _signal, sys, pippin_start
def tell(*arguments, set=_signal.signal):
    set(*arguments)
    print("ready", flush=True)
_signal.signal = tell
pippin_start.main()
"""
"""The script `pippin`, which tells that it has begun: what Python does before is not its."""


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Exit code and errors of `pippin run` by the time after which Ctrl-C came [s]."""
    started = {}
    for delay in (0.0, 0.05, 0.2, 0.5, 1.0):
        command = [sys.executable, "-c", CODE, "run", str(ANT), "--out", str(tmp_path_factory.mktemp("out") / "run")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        started[delay] = process
    return {delay: (process.communicate()[1], process.returncode) for delay, process in started.items()}


def test_ctrl_c_at_any_time_ends_a_command_with_one_line(stopped):
    for delay, (errors, code) in stopped.items():
        assert code == 130, f"{delay} s: {errors}"
        assert errors.endswith("stopped\n"), f"{delay} s"
        assert "Traceback" not in errors, f"{delay} s"
    assert stopped[0.0][0] == stopped[0.05][0] == "stopped\n", "in an import"


def test_ctrl_c_leaves_while_a_plugin_is_imported():
    """Its import has another `os._exit`, which reports a plugin that ends the process."""
    code = "import os, pippin_start; os._exit = lambda status: print('reported', status); pippin_start._stop()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


def test_the_installed_script_starts_there():
    [script] = importlib.metadata.entry_points(group="console_scripts", name="pippin")

    assert script.value == "pippin_start:main"
