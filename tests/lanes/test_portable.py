"""What Pippin does where Linux's own ways are missing: the same in another way, or a refusal with a name and a cure."""

import json
import os
import shutil
import subprocess
import sys
import threading
import tty

import pytest

from .__main__ import ROOT
from .patches import VARIABLE, environment

pytestmark = pytest.mark.skipif(VARIABLE in os.environ, reason="these tests start the lane")

HINGE = """
[simulation]
dt = 0.01
device = "cpu"
[scene]
worlds = 2
[[scene.assets]]
path = "hinge.xml"
[solver]
type = "featherstone"
[actuators.motor]
type = "pd"
joints = ["hinge"]
kp = 20.0
kd = 1.0
"""

RECORDER = """
[recorders.log]
type = "npz"
worlds = "0:1"
"""

TASK = """
[task.actions]
turn = { type = "joint-targets", actuator = "motor" }
[task.observations.policy]
positions = { of = "joint-positions" }
[task.rewards]
alive = { type = "alive", weight = 1.0 }
"""

ROBOT = """
[robot]
type = "feetech"
port = "PORT"
rate = 50.0
joints = { hinge = { id = 1, zero = 2048 } }
"""


@pytest.fixture
def folder(tmp_path):
    shutil.copy(ROOT / "docs/examples/hinge.xml", tmp_path)
    (tmp_path / "hinge.toml").write_text(HINGE + RECORDER, encoding="utf-8")
    (tmp_path / "task.toml").write_text(HINGE + TASK, encoding="utf-8")
    (tmp_path / "robot.toml").write_text(HINGE + ROBOT.replace("PORT", str(tmp_path / "bus")), encoding="utf-8")
    return tmp_path


def python(code, folder, system="win32", **variables):
    """Run a program on a system without Linux's ways."""
    lane = {**environment("portable"), "PIPPIN_TEST_SYSTEM": system, **variables}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=lane, capture_output=True, text=True, timeout=300
    )


def command(*words, **options):
    return python(f"import sys, pippin_start; sys.argv[1:] = {[*words]!r}; pippin_start.main()", **options)


SYSTEMS = pytest.mark.parametrize("system", ["win32", "darwin"])


@pytest.mark.slow
@SYSTEMS
def test_a_run_writes_the_same_series(folder, system):
    """In the lane twice: alone, and with a video, which is drawn in the same process there."""
    here = subprocess.run(
        [sys.executable, "-m", "pippin_start", "run", "hinge.toml", "--steps", "20", "--out", "here"],
        cwd=folder,
        env=environment(None),
        capture_output=True,
        text=True,
        timeout=300,
    )
    video = ["--set", "viewers.film.type=video", "--set", "viewers.film.size=[32, 32]"]
    there = command("run", "hinge.toml", "--steps", "20", "--out", "there", *video, folder=folder, system=system)

    assert here.returncode == 0, here.stderr
    assert there.returncode == 0, there.stderr
    assert "beside the run" not in there.stderr + there.stdout
    assert (folder / "there" / "film.mp4").stat().st_size > 0
    assert (folder / "there" / "report.html").is_file()
    compared = """
import numpy as np, pippin
here, there = pippin.Run("here"), pippin.Run("there")
assert np.array_equal(here["joint_q"][:], there["joint_q"][:]) and len(here.time) == 20
"""
    assert python(compared, folder, system).returncode == 0


SHARDS = """
import numpy as np, pippin
from pippin.sharding import ShardedSimulation
from pippin_task.gym import VectorEnv

if __name__ == "__main__":
    with ShardedSimulation("task.toml", shards=2) as simulation:
        simulation.step(3)
    for shards in (None, 2):
        try:
            env = VectorEnv("task.toml", shards=shards)
        except pippin.ConfigError as error:
            print(error)
            continue
        env.reset(seed=1)
        print(env.step(np.ones((2, 1), dtype=np.float32))[0].tolist())
        env.close()
"""


@pytest.mark.slow
@SYSTEMS
def test_worlds_are_split_over_fresh_processes(folder, system):
    (folder / "shards.py").write_text(SHARDS, encoding="utf-8")

    done = python("import runpy; runpy.run_path('shards.py', run_name='__main__')", folder, system)

    assert done.returncode == 0, done.stderr
    alone, split = done.stdout.splitlines()
    if system == "darwin":
        assert alone == split
        assert json.loads(split)[0][0] > 0.0
    else:
        assert split == "shards: this system cannot share memory between processes like this; leave it out"


def test_an_emulated_bus_is_refused_with_its_cure(folder):
    done = command("emulate", "robot.toml", "--set", "scene.worlds=1", folder=folder)

    assert done.returncode == 2, done.stderr
    assert "an emulated bus is a pseudo terminal, and win32 has none" in done.stderr + done.stdout
    assert "in WSL" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


PORT = """
from pippin_feetech import FeetechConfig, FeetechJointConfig
from pippin_robot.bus import BusPort

config = FeetechConfig(port=PATH, rate=50.0, timeout=1.0, retries=0,
    joints={"hinge": FeetechJointConfig(id=1, zero=2048)})
port = BusPort(config)
print(port.ask(b"ping", lambda data: data if len(data) >= 4 else None, "a ping").decode())
try:
    port.ask(b"hush", lambda data: None, "a silence")
except Exception as error:
    print(error)
port.close()
"""


@SYSTEMS
def test_a_port_is_read_without_waiting_on_its_descriptor(folder, system):
    """The other end answers one question, in two parts."""
    master, slave = os.openpty()
    tty.setraw(slave)

    def answer():
        assert os.read(master, 4) == b"ping"
        os.write(master, b"po")
        os.write(master, b"ng")

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        done = python(PORT.replace("PATH", repr(os.ttyname(slave))), folder, system)
    finally:
        thread.join(10.0)
        os.close(master)
        os.close(slave)

    assert done.stdout.splitlines() == ["pong", "no answer to a silence in 1 tries of 1.0000 s"], done.stderr


STOP_KEY = """
import os, sys, time
from pippin_robot.stop_key import stop_pressed
master, slave = os.openpty()
sys.stdin = os.fdopen(slave)
with stop_pressed() as is_pressed:
    os.write(master, b" ")
    time.sleep(0.1)
    print(is_pressed())
"""


@SYSTEMS
def test_a_terminal_without_single_keys_says_so(folder, system):
    """Windows has a module of its own for keys, which is not here, too: the drive goes on, and the log says so."""
    done = python(STOP_KEY, folder, system)

    if system == "darwin":
        assert done.stdout == "True\n", done.stderr
    else:
        assert done.stdout == "False\n", done.stderr
        assert "the space bar stops nothing; use Ctrl-C or the page" in done.stderr


def test_output_into_a_pipe_with_few_characters_is_whole(folder):
    """A pipe of Windows has the characters of one language: another one ended the command with a traceback."""
    done = command("run", "hinge.toml", "--steps", "3", folder=folder, PYTHONIOENCODING="ascii")

    assert done.returncode == 0, done.stderr
    assert "\\xd7 real time" in done.stdout


@pytest.mark.slow
def test_variants_run_in_processes(folder):
    over = ["--over", "actuators.motor.kp=10.0,20.0", "--processes", "2"]
    done = command("sweep", "hinge.toml", *over, "--steps", "5", "--out", "swept", folder=folder)

    assert done.returncode == 0, done.stderr
    assert (folder / "swept" / "results.csv").read_text(encoding="utf-8").count("\n") == 3
