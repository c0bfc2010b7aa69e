"""SIGTERM and SIGHUP end commands of robots as Ctrl-C does: the robot is left as its safety says, and files open."""

import json
import re

import numpy as np
import pippin
import pytest

from ..sessions import Command, open_all
from .conftest import FILE
from .test_robots_closed_loop import emulated

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


def started(words, port, folder, **options):
    """Start a command of a robot at a port, in a folder of its own."""
    folder.mkdir()
    settings = ("--set", f"robot.port='{port}'", "--set", "simulation.device='cpu'")
    return Command((words[0], FILE, *words[1:], *settings), folder, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_drive_ends_as_by_ctrl_c(name, tmp_path):
    port = tmp_path / "bus"
    with emulated(port):
        building = started(("drive", "--yes"), port, tmp_path / "building")
        building.until(lambda: re.search("^import +assets", building.text(), re.MULTILINE))
        early, early_text = building.end(name)
        driving = started(("drive", "--yes", "--duration", "600", "--shadow"), port, tmp_path / "driving")
        rows = driving.out / "series.npz.rows"
        driving.until(lambda: rows.is_file() and rows.stat().st_size > 20_000)

        code, text = driving.end(name)

    for each, told in ((early, early_text), (code, text)):
        assert each == 130, told
        assert told.splitlines()[-1] == "stopped"
        assert "Traceback" not in told
    open_all(building.out)
    assert "the robot is left: hold" in text
    assert {"config.toml", "series.npz", "summary.json", "report.html"} <= open_all(driving.out)
    summary = json.loads((driving.out / "summary.json").read_text())["robot"]
    assert (summary["kind"], summary["left"]) == ("interrupt", "hold")
    with pippin.Run(driving.out) as run:
        assert np.isfinite(run["joint_q"].values[:]).all()
        assert run["robot/fault"].values[-1] == 11  # stop


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_measurement_of_latency_ends_as_by_ctrl_c(name, tmp_path):
    port = tmp_path / "bus"
    with emulated(port):
        running = started(("latency", "--yes"), port, tmp_path / "latency")
        running.until(lambda: any(path.stat().st_size > 20_000 for path in running.out.rglob("series.npz.rows")))

        code, text = running.end(name)

    assert code == 130, text
    assert text.splitlines()[-1] == "stopped"
    assert "Traceback" not in text
    open_all(running.out)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_emulated_robot_is_gone_with_its_port(name, tmp_path):
    port = tmp_path / "bus"
    running = started(("emulate",), port, tmp_path / "emulated", out=None)
    running.until(lambda: "the robot is at" in running.text())

    code, text = running.end(name)

    assert code == 0, text
    assert "steps per second" in text
    assert "Traceback" not in text
    assert not port.exists()
