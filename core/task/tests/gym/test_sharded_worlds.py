"""An environment in two processes: the results of one process, and nothing left whatever ends it.

Processes take seconds to start, so tests share them: `pair` is an environment in shards and one in this process, which
get the same calls.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
from pippin_task.gym import VectorEnv
from pippin_task.gym.backends import backend_of

from tests.scene_files import ARM
from tests.sessions import is_running

pytestmark = pytest.mark.slow

TASK = """
[simulation]
device = "cpu"
dt = 0.02
decimation = 2

[scene]
worlds = 4
[[scene.assets]]
path = "pendulum.xml"

[solver]
type = "featherstone"

[actuators.motor]
type = "pd"
joints = ["shoulder"]
kp = 20.0
kd = 5.0

[task]
episode_length = 40.0

[task.actions]
turn = { type = "joint-targets", actuator = "motor" }

[task.observations.policy]
positions = { of = "joint-positions", noise = 0.1 }
velocities = { of = "joint-velocities" }

[task.rewards]
alive = { type = "alive", weight = 1.0 }

[task.terminations]
fallen = { type = "outside", of = { type = "joint-positions", joints = ["shoulder"] }, low = -0.2, high = 0.2 }

[task.events]
start = { type = "joints", position = [-0.01, 0.01], velocity = [-0.01, 0.01] }
"""
"""A pendulum at rest, on a solver that starts fast."""

PUSH = np.full((4, 1), 3.0, dtype=np.float32)

SCRIPT = """
import sys
import time

import numpy as np
from pippin import SimulationError
from pippin_task.gym import VectorEnv

if __name__ == "__main__":
    env = VectorEnv(sys.argv[1], num_envs=1, shards=1)
    env.reset()
    action = np.zeros((1, 1), dtype=np.float32)
    try:
        env.step(action)
        print("worker", env._worlds._pool.pids[0], flush=True)
        while True:
            env._worlds.step(reads_flags=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    try:
        env.step(action)
    except SimulationError as error:
        print(error, flush=True)
    time.sleep(60.0)
"""


@pytest.fixture(scope="module")
def pendulum(write_files):
    return write_files({"pendulum.xml": ARM, "pendulum.toml": TASK}) / "pendulum.toml"


@pytest.fixture(scope="module")
def pair(pendulum):
    envs = [VectorEnv(pendulum, num_envs=4, shards=shards) for shards in (2, None)]
    yield envs
    for env in envs:
        env.close()


def processes(env):
    """Return the processes of the shards."""
    return env._worlds._pool.pids


def shared_files():
    """Return the names of our blocks of memory."""
    return [name for name in os.listdir("/dev/shm") if name.startswith("pippin")]


def leaves(result):
    """Yield the arrays of a result in their order."""
    if isinstance(result, dict):
        result = [result[key] for key in sorted(result)]
    if isinstance(result, list | tuple):
        for each in result:
            yield from leaves(each)
    else:
        yield result


def assert_same(results):
    for one, other in zip(*map(leaves, results), strict=True):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


def test_it_gives_the_results_of_one_process(pair):
    mask, ended = np.array([False, False, True, False]), 0

    assert_same([env.reset(seed=5) for env in pair])
    for step in range(30):
        results = [env.step(PUSH * np.float32(np.cos(step))) for env in pair]
        assert_same(results)
        ended += results[0][2].sum()
        if step == 10:
            assert_same([env.reset(seed=[1, None, 3, 4], options={"reset_mask": mask}) for env in pair])

    assert ended > 4
    (score, _), (whole, _) = (env._worlds.statistics() for env in pair)
    np.testing.assert_allclose(score.totals, whole.totals, err_msg="sums over the episodes of all processes")
    assert score.totals[0] == ended


def test_results_are_copies_unless_another_library_shares_the_memory(pair):
    sharded, _ = pair
    arrays = sharded._worlds.arrays()
    first, shared = sharded.observe(), backend_of("warp", copy=False).reader(arrays["values/policy"])()

    for env in pair:
        env.step(PUSH)

    assert sharded.device == "cpu"
    assert not np.array_equal(first, sharded.observe())
    np.testing.assert_array_equal(shared.numpy(), sharded.observe())
    maps = [line for line in Path("/proc/self/maps").read_text().splitlines() if "/dev/shm" in line]
    assert maps
    assert all(line.endswith("(deleted)") for line in maps), "the memory has no name"


def test_errors_are_those_of_one_process_and_it_continues_after_them(pair):
    faults = []

    for env in pair:
        faults.append([])
        for call in (
            lambda env=env: env.step(np.full((4, 1), np.nan, dtype=np.float32)),
            lambda env=env: env.step(PUSH[:3]),
            lambda env=env: env.reset(options={"reset_mask": np.zeros(4, dtype=bool)}),
        ):
            with pytest.raises(pippin.ConfigError) as caught:
                call()
            faults[-1].append(str(caught.value))
    with pytest.raises(pippin.SimulationError) as caught:
        _ = pair[0].task

    assert faults[0] == faults[1]
    assert str(caught.value) == "task: the worlds are in 2 other processes; make the environment without 'shards'"
    assert_same([env.step(PUSH) for env in pair])


def test_it_resumes_from_a_folder_and_a_killed_worker_is_named_at_once(pair, tmp_path):
    sharded = pair[0]
    sharded.save(tmp_path / "env")
    loaded = VectorEnv.load(tmp_path / "env")

    assert_same([each.step(PUSH) for each in (loaded, *pair)][:2])
    pids = processes(loaded)
    os.kill(pids[1], signal.SIGKILL)
    start, faults = time.monotonic(), []
    for _ in range(2):
        with pytest.raises(pippin.SimulationError) as caught:
            loaded.step(PUSH)
        faults.append(str(caught.value))
    taken = time.monotonic() - start
    loaded.close()

    assert set(faults) == {
        "shard 1 of 2 (worlds 2:4): the process ended with signal SIGKILL, and its worlds are lost; close this"
        " environment, and make another one, or load what you saved"
    }
    assert taken < 5.0
    assert not any(map(is_running, pids))
    assert not shared_files()


def test_an_interrupted_step_is_the_last_and_a_killed_parent_leaves_nothing(pendulum, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    with subprocess.Popen([sys.executable, script, pendulum], stdout=subprocess.PIPE, text=True) as parent:
        pid = next(int(line.split()[1]) for line in parent.stdout if line.startswith("worker"))
        os.kill(pid, signal.SIGSTOP)  # the parent waits for it, in the middle of a step
        time.sleep(0.5)
        parent.send_signal(signal.SIGINT)
        told = [parent.stdout.readline().strip() for _ in range(2)]
        os.kill(pid, signal.SIGCONT)
        parent.kill()
    deadline = time.monotonic() + 60.0
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert told == [
        "interrupted",
        "step: a step was interrupted, so that shards may be at different steps; close this environment, and make"
        " another one, or load what you saved",
    ]
    assert not is_running(pid)
    assert not shared_files()


def test_what_cannot_be_sharded_is_refused_at_once(pendulum):
    with pytest.raises(pippin.ConfigError, match="shards: expected 1 to 4, the number of worlds, got 5"):
        VectorEnv(pendulum, num_envs=4, shards=5)
    with pytest.raises(pippin.ConfigError, match="plugins: objects made in Python stay in this process"):
        VectorEnv(pendulum, num_envs=4, shards=2, plugins=[object()])


def test_it_keeps_the_contract_of_vector_environments(pair):
    """The last test of the shared environment: the check closes it."""
    results = conformance.check_vector_env(pair[0], steps=30)

    assert {result.outcome for result in results} == {"passed"}
