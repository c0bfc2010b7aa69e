"""Replays of demonstrations: the same bits from the recorded start, and a distance if anything differs."""

import json
import signal
import subprocess
import sys

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_record.replay import replay

pytestmark = pytest.mark.slow

ROBOT = """<mujoco><worldbody><body><joint name="hip" axis="0 1 0"/><geom size="0.05" pos="0.2 0 0"/>
<body pos="0.4 0 0"><joint name="knee" axis="0 1 0"/><geom size="0.05" pos="0.1 0 0"/></body>
</body></worldbody></mujoco>"""
FILE = """
simulation = { dt = 0.005, decimation = 4, device = "cpu" }
scene = { worlds = 3, assets = [{ path = "robot.xml" }] }
solver.type = "mujoco-native"
actuators.leg = { type = "pd", joints = [".*"], kp = 5.0, kd = 0.1 }
recorders.demos = { type = "lerobot", worlds = "0:3" }
recorders.file = { type = "robomimic", worlds = "0:3" }
"""
TASK = """
[task]
episode_length = 0.2
actions.targets = { type = "joint-targets", actuator = "leg" }
events.start = { type = "joints", joints = [".*"], position = [-0.5, 0.5] }
"""
MOTION = """
[motions.swing]
type = "sine"
actuator = "leg"
amplitude = 0.5
frequency = 2.0
"""


KILLED = """
import os, signal, pippin
with pippin.Simulation("task.toml", folder="killed") as simulation:
    for step in range(35):  # three episodes of ten steps, and a half
        simulation.step()
    for label in ("demos", "file"):
        simulation.recorders[label].flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a folder with six episodes of a task, of ten steps each, and a run of a motion without a task."""
    folder = tmp_path_factory.mktemp("replay")
    (folder / "robot.xml").write_text(ROBOT)
    (folder / "task.toml").write_text(FILE + TASK)
    (folder / "motion.toml").write_text(FILE + MOTION)
    draws = np.random.default_rng(1)
    with pippin.Simulation(folder / "task.toml", folder=folder / "task") as simulation:
        action = simulation.task.episodes.action
        for _ in range(20):
            action.assign(draws.uniform(-1.0, 1.0, action.shape).astype(np.float32))
            simulation.step()
    with pippin.Simulation(folder / "motion.toml", folder=folder / "motion") as simulation:
        simulation.step(15)
    return folder


@pytest.mark.parametrize("demos", ["task/demos", "task/file.hdf5"])
def test_the_same_solver_gives_the_same_bits(recorded, demos):
    found = replay(recorded / demos)

    assert [(each.index, len(each.distances)) for each in found] == [(index, 10) for index in range(6)]
    assert {each.largest for each in found} == {0.0}


def test_targets_without_a_task_are_played_in_place_of_the_motion(recorded):
    found = replay(recorded / "motion/demos", overrides={"motions.swing.amplitude": 2.0})

    assert [(len(each.distances), each.largest) for each in found] == [(15, 0.0)] * 3


def test_other_physics_has_a_distance(recorded):
    found = replay(recorded / "task/demos", overrides={"actuators.leg.kp": 4.0}, episodes=[4, 1])

    assert [each.index for each in found] == [4, 1]
    for each in found:
        assert each.distances[0] == 0.0  # it starts where the episode did
        assert each.largest == each.distances[each.largest_frame] > 0.01


def test_each_step_may_start_from_a_recorded_state(recorded):
    changes = {"actuators.leg.kp": 4.0}
    along, alone = (replay(recorded / "task/demos", overrides=changes, states=states) for states in (False, True))

    for free, held in zip(along, alone, strict=True):
        assert held.distances[1] == pytest.approx(free.distances[1], rel=1e-4)
        assert np.abs(held.distances[2:] - free.distances[2:]).max() > 0.01
    true = replay(recorded / "task/demos", states=True)
    assert max(each.largest for each in true) < 1e-6


def test_the_command_prints_distances_and_fails_above_a_limit(recorded):
    demos, changes = str(recorded / "task/demos"), ["--set", "actuators.leg.kp=4.0"]
    same = CliRunner().invoke(main, ["replay", demos, "--json", "--episode", "2"])
    other = CliRunner().invoke(main, ["replay", demos, *changes, "--limit", "0.01"])

    assert json.loads(same.stdout) == {"largest": 0.0, "episodes": [{"episode": 2, "distances": [0.0] * 10}]}
    assert (same.exit_code, other.exit_code) == (0, 4), other.output
    assert "largest distance" in other.output


def test_a_file_with_another_action_is_refused(recorded):
    with pytest.raises(pippin.ConfigError, match=r"action of the demonstrations is 'task/action', of 2 numbers"):
        replay(recorded / "task/demos", recorded / "motion.toml")


@pytest.mark.parametrize(
    ("demos", "episodes", "fault"),
    [("task/demos", [7], "no episode 7; it has 6, from 0"), ("task", [], "not demonstrations of Pippin")],
)
def test_what_is_not_there_is_refused(recorded, demos, episodes, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        replay(recorded / demos, episodes=episodes)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
@pytest.mark.parametrize("demos", ["demos", "file.hdf5"])
def test_a_killed_process_leaves_whole_episodes(recorded, demos):
    if not (recorded / "killed").exists():
        result = subprocess.run([sys.executable, "-c", KILLED], cwd=recorded, capture_output=True)
        assert result.returncode == -signal.SIGKILL, result.stderr
    found = replay(recorded / "killed" / demos)

    assert [(len(each.distances), each.largest) for each in found] == [(10, 0.0)] * 9
