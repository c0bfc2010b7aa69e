"""A study that somebody else wrote: a command with progress, Ctrl-C, a folder and a page, in sixty lines."""

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pippin
import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tests" / "outside" / "pippin-study-settling" / "src" / "pippin_study_settling" / "__init__.py"

SLIDE = """
<mujoco><worldbody><body name="cart"><joint name="rail" type="slide" axis="1 0 0" damping="2"/>
<geom type="sphere" size="0.1" mass="1"/></body></worldbody><keyframe><key name="pushed" qvel="1"/></keyframe></mujoco>
"""

FILE = """
[simulation]
device = "cpu"
dt = 0.01

[scene]
gravity = [0, 0, 0]

[[scene.assets]]
path = "slide.xml"
keyframe = "pushed"

[solver]
type = "mujoco"
"""
"""A cart of 1 kg with a damper of 2 N·s/m: its speed falls as exp(-2 t)."""


@pytest.fixture(scope="module")
def site(install_outside):
    """The folder that the package is installed in."""
    with install_outside("pippin-study-settling") as folder:
        yield folder


@pytest.fixture
def start(site, tmp_path):
    """A function that starts `pippin settle` in a folder with the file of the cart."""
    (tmp_path / "slide.xml").write_text(SLIDE)
    (tmp_path / "slide.toml").write_text(FILE)

    def started(*options):
        command = [Path(sys.executable).with_name("pippin"), "settle", "slide.toml", "--out", "found", *options]
        environment = {**os.environ, "PYTHONPATH": str(site)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, cwd=tmp_path, env=environment, **pipes)

    return started


def test_it_is_short():
    assert len([line for line in SOURCE.read_text().splitlines() if line.strip()]) <= 60


def test_it_shows_phases_and_leaves_a_folder_with_a_page(start, tmp_path):
    with start("--limit", "0.05") as process:
        printed = process.communicate(timeout=300)[0]

    folder = tmp_path / "found"
    assert process.returncode == 0, printed
    assert [phase for phase in ("import", "build", "settle") if f"\n{phase:<8} " in f"\n{printed}"] != []
    assert "rests after" in printed
    assert {path.name for path in folder.iterdir()} == {"config.toml", "report.html", "summary.json"}
    summary = json.loads((folder / "summary.json").read_text())
    np.testing.assert_allclose(summary["time"], math.log(1.0 / 0.05) / 2.0, rtol=0.02)  # of steps of 10 ms
    page = (folder / "report.html").read_text()
    assert "<h2>Speed</h2>" in page
    assert '"unit":"rad/s or m/s"' in page
    assert "<h2>Settings</h2>" in page
    assert pippin.load(folder / "config.toml").simulation.dt == 0.01


def test_ctrl_c_leaves_what_was_found(start, tmp_path):
    with start("--limit", "-1") as process:
        for line in process.stdout:
            if line.startswith("settle") and "step" in line:
                process.send_signal(signal.SIGINT)
                break
        printed = process.communicate(timeout=120)[0]

    assert process.returncode == 130, printed
    assert "what was found until then is in found" in printed
    summary = json.loads((tmp_path / "found" / "summary.json").read_text())
    np.testing.assert_allclose(summary["speed"], math.exp(-2.0 * summary["time"]), rtol=0.05, atol=1e-6)
    assert "<h2>Speed</h2>" in (tmp_path / "found" / "report.html").read_text()


def test_a_folder_that_is_taken_is_refused_before_anything_is_built(start, tmp_path):
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "notes.txt").write_text("mine")
    with start() as process:
        printed = process.communicate(timeout=120)[0]

    assert process.returncode == 2
    assert "--out: " in printed
    assert not (tmp_path / "found" / "config.toml").exists()
