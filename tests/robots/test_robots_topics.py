"""`pippin emulate` and `pippin drive` by topics: two processes, one file."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pippin
import pippin.recording
import pytest
from pippin_robot import drive
from pippin_robot.sources import DriveSource

from tests.serving import DOMAIN, peer
from tests.sessions import COMMAND

pytest.importorskip("cyclonedds")

EXAMPLES = Path(__file__).parents[2] / "docs/examples"

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def emulated(name, *overrides):
    """Be the robot of an example in another process, and yield a list that has its result after the block."""
    command = [sys.executable, "-c", COMMAND, "emulate", str(EXAMPLES / name), "--json"]
    changes = [part for each in overrides for part in ("--set", each)]
    process = subprocess.Popen([*command, *changes], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    result, lines = [], []
    try:
        for line in process.stderr:
            lines.append(line)
            if line.startswith("the robot is at"):
                break
        else:
            raise AssertionError("".join(lines))
        yield result
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        result.append(json.loads(out.splitlines()[-1]))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def loaded(name, **overrides):
    keys = {"simulation.device": "cpu", "robot.domain": DOMAIN, "robot.safety.soft_start": 0.5}
    keys |= {"robot.safety.max_late": 50, "robot.safety.watchdog": 1.0}  # two cores have more to do
    return pippin.load(EXAMPLES / name, keys | overrides)


@pytest.mark.parametrize("kind", ["ros2", "zenoh"])
def test_an_arm_of_ros_follows_the_motions_of_its_file(tmp_path, kind):
    keys = {"robot.type": kind} if kind == "zenoh" else {}
    port = 20000 + DOMAIN
    if kind == "zenoh":
        keys |= {"robot.endpoint": f"tcp/127.0.0.1:{port}"}
    texts = [f"{key}={value}" for key, value in {**keys, "robot.domain": DOMAIN}.items()]
    router = ["robot.router=true"] if kind == "zenoh" else []
    with emulated("so101_ros2.toml", *texts, *router) as found:
        result = drive(loaded("so101_ros2.toml", **keys), duration=2.0, out=tmp_path / "run")

    assert result.fault is None
    assert result.rate > 60.0  # two cores have more to do
    assert min(result.counts["states"], result.counts["commands"]) > 200
    assert found[0]["counts"]["commands"] == result.counts["commands"]
    assert found[0]["counts"]["refused"] == 0
    with pippin.recording.Recording(tmp_path / "run" / "series.npz") as recording:
        told = recording["actuators/arm/position_targets"].values[:, 0]
        measured = recording["joint_q"].values[:, 0]
    assert np.ptp(told, axis=0).max() > 0.2  # it moves
    assert np.abs(measured - told).mean() < 0.1


def test_a_quadruped_of_unitree_stands_by_pippin_drive_and_by_others():
    with emulated("quadruped_unitree.toml", f"robot.domain={DOMAIN}") as found:
        file = loaded("quadruped_unitree.toml", **{"robot.safety.tilt": 0.3})
        driven = drive(file, DriveSource(), duration=2.0, is_recorded=False)
        mode, first, last = peer(Path(__file__).parents[2] / "core/unitree/tests/unitree_peer.py", DOMAIN, 4.0)

    assert driven.fault is None
    assert (driven.counts["damaged"], driven.counts["braked"]) == (0, 0)
    assert (mode, first["crc"], last["crc"]) == ([0, {"form": "0", "name": ""}], True, True)
    for state in (first, last):  # it stands: its weight on its legs, its back level
        np.testing.assert_allclose(state["accelerometer"], [0.0, 0.0, 9.81], atol=0.3)
        assert np.abs(state["rpy"][:2]).max() < 0.05
        assert np.abs(state["tau"][:12]).max() > 1.0
    np.testing.assert_allclose(last["q"][:12], [0.0, 0.4, -0.6] * 4, atol=0.1)
    assert found[0]["counts"]["refused"] == 1  # the last command has a wrong checksum
