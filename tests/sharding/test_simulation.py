"""A sharded simulation: the bits of the whole, saving, and what is said and left after a kill."""

import os
import signal

import numpy as np
import pippin
import pytest
from pippin.errors import PippinError
from pippin.sharding import ShardedSimulation
from pippin.sharding.gathering import world_values

NAMES = (
    "state.joint_q",
    "state.body_qd",
    "sensors.joints.velocity",
    "actuators.arm.applied_effort",
    "task.episodes.reward",
)

FUNCTIONS = """
import os

import pippin


def process(simulation):
    return os.getpid()


def push(simulation, velocity):
    simulation.state.joint_qd[-1:].fill_(velocity)
    simulation.invalidate("joints")


def divide(simulation, number):
    return simulation.world_count / number


def fail_in_the_second(simulation):
    if simulation.config.scene.first_world:
        raise pippin.SimulationError("world 2: fell; help it up")
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """Let processes import the functions above, as a user's module."""
    folder = tmp_path_factory.mktemp("functions")
    (folder / "functions_of_shards.py").write_text(FUNCTIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder))
        yield "functions_of_shards"


@pytest.fixture(scope="module")
def pair(scene, functions):
    """Return the scene in two processes that go on after a loss, and in this one, after the same calls."""
    with ShardedSimulation(scene, shards=2, checkpoint_every=5) as sharded, pippin.Simulation.from_file(scene) as whole:
        yield sharded, whole


def assert_same(sharded, whole):
    for name in NAMES:
        values = sharded.gather(name)
        assert values.shape[0] == 8
        assert values.tobytes() == world_values(whole, name).tobytes(), name


def kill(sharded, functions, shard):
    """Kill the process of a shard; return its number."""
    pid = sharded.call(f"{functions}:process")[shard]
    os.kill(pid, signal.SIGKILL)
    return pid


def test_a_world_has_the_bits_of_the_whole_also_after_resets_and_calls(pair, functions):
    sharded, whole = pair
    mask = np.arange(8) % 3 == 1

    for simulation in pair:
        simulation.step(7)
        simulation.reset(mask)
        simulation.step(2)
    sharded.call(f"{functions}:push", 3.0)
    velocities = whole.state.joint_qd.numpy().reshape(8, -1)
    velocities[[3, 7], -1] = 3.0
    whole.state.joint_qd.assign(velocities)
    whole.invalidate("joints")
    for simulation in pair:
        simulation.step(3)

    assert (sharded.step_count, sharded.time) == (whole.step_count, whole.time)
    assert_same(sharded, whole)


def test_a_killed_shard_resumes_from_its_checkpoint_and_repeats_the_calls_since(pair, functions):
    sharded, whole = pair

    for simulation in pair:
        simulation.step(2)
        simulation.reset([0, 5])
    lost = kill(sharded, functions, 1)
    for simulation in pair:
        simulation.step(6)

    assert sharded.call(f"{functions}:process")[1] != lost
    assert_same(sharded, whole)


def test_errors_are_those_of_a_simulation_and_name_the_shard_if_only_one_has_them(pair, functions):
    sharded, _ = pair
    faults = {}

    for name, call in {
        "step": lambda: sharded.step(-1),
        "reset": lambda: sharded.reset([8]),
        "gather": lambda: sharded.gather("state.joint_z"),
        "function": lambda: sharded.call("os:no"),
        "second": lambda: sharded.call(f"{functions}:fail_in_the_second"),
    }.items():
        with pytest.raises(PippinError) as caught:
            call()
        faults[name] = str(caught.value)
    with pytest.raises(ZeroDivisionError) as caught:
        sharded.call(f"{functions}:divide", 0)

    assert faults == {
        "step": "step: expected a whole number of at least 0, got -1",
        "reset": "reset: worlds: 8 is not a world; there are 8, counted from 0",
        "gather": "gather: no array 'state.joint_z': there is no 'joint_z'; did you mean 'joint_q'?",
        "function": "function: module 'os' has no function 'no'; name one of its functions",
        "second": "shard 1 of 2 (worlds 4:8): world 6: fell; help it up",
    }
    assert "functions_of_shards.py" in str(caught.value.__cause__)


def test_it_resumes_from_a_folder_and_a_loss_without_checkpoints_is_an_error(pair, functions, tmp_path):
    sharded, _ = pair
    sharded.save(tmp_path / "saved")

    with ShardedSimulation.load(tmp_path / "saved") as loaded:
        for simulation in (sharded, loaded):
            simulation.step(4)
        same = [loaded.gather(name).tobytes() == sharded.gather(name).tobytes() for name in NAMES]
        pids = loaded.call(f"{functions}:process")
        kill(loaded, functions, 0)
        faults = []
        for _ in range(2):
            with pytest.raises(pippin.SimulationError) as caught:
                loaded.step(4)
            faults.append(str(caught.value))

    assert all(same)
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == [
        *(f"shard-{index}-{sharded.step_count - 4}.npz" for index in range(2)),
        "shards.json",
    ]
    assert (
        faults
        == [
            "shard 0 of 2 (worlds 0:4): the process ended with signal SIGKILL, and its worlds are lost; load what you"
            " saved, or use checkpoint_every"
        ]
        * 2
    )
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_closed_one_says_so_and_what_cannot_be_split_is_refused_at_once(scene, tmp_path):
    with pytest.raises(pippin.ConfigError, match="shards: expected 1 to 8, the number of worlds, got 9"):
        ShardedSimulation(scene, shards=9)
    with pytest.raises(pippin.ConfigError, match="checkpoint_every: a recorder would begin its file anew"):
        ShardedSimulation(scene, shards=2, overrides={"recorders.all": {"type": "npz"}}, checkpoint_every=5)
    with pytest.raises(pippin.ConfigError, match=r"load: '.*' has no shards.json; name a folder written by"):
        ShardedSimulation.load(tmp_path)
