"""Shards for learning: a policy acts in them, and a lost one continues with the same bits."""

from pathlib import Path

import numpy as np
import pytest
from pippin.errors import ConfigError, SimulationError
from pippin_task import RolloutShard

EXAMPLES = Path(__file__).parents[4] / "docs/examples"
CART = EXAMPLES / "tasks/inverted_pendulum.toml"
POLICY = (EXAMPLES / "policies/cartpole.onnx").read_bytes()
SMALL = {"scene.worlds": 4, "simulation.device": "cpu", "task.episode_length": 0.2}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A block of all four worlds, whose episodes end after five steps."""
    shard = RolloutShard(CART, 0, 4, tmp_path_factory.mktemp("whole"), SMALL)
    yield shard.collect(POLICY, 8, deviation=0.5)
    shard.close()


@pytest.mark.slow
def test_a_block_holds_what_happened_in_each_step(whole):
    assert {name: each.shape for name, each in whole.observations.items()} == {"policy": (8, 4, 4)}
    assert whole.actions.shape == (8, 4, 1)
    assert whole.rewards.shape == whole.terminated.shape == whole.truncated.shape == (8, 4)
    ended = np.argwhere(whole.terminated | whole.truncated)
    assert len(ended)
    assert np.array_equal(whole.ended, ended)
    assert whole.final_observations["policy"].shape == (len(ended), 4)


def test_a_world_gives_the_same_bits_in_a_part_of_the_worlds(whole, tmp_path):
    part = RolloutShard(CART, 1, 2, tmp_path, SMALL)

    block = part.collect(POLICY, 8, deviation=0.5)
    part.close()

    assert block.actions.std() > 0.3
    assert np.array_equal(block.actions, whole.actions[:, 1:3])
    assert np.array_equal(block.observations["policy"], whole.observations["policy"][:, 1:3])
    assert np.array_equal(block.rewards, whole.rewards[:, 1:3])


@pytest.mark.slow
@pytest.mark.slow
def test_a_repeated_call_gives_the_same_block_and_a_lost_shard_continues(whole, tmp_path):
    shard = RolloutShard(CART, 0, 4, tmp_path, SMALL)
    shard.collect(POLICY, 4, deviation=0.5)
    lost = RolloutShard(CART, 0, 4, tmp_path, SMALL)  # as after a loss between two calls
    first = lost.collect(POLICY, 4, start=4, deviation=0.5)
    lost.close()

    again = shard.collect(POLICY, 4, start=4, deviation=0.5)
    shard.close()
    other = RolloutShard(CART, 0, 4, tmp_path, SMALL)
    step = other.step_count
    anew = other.collect(POLICY, 4, start=4, deviation=0.5)
    with pytest.raises(SimulationError, match=r"are at step 8, and there is no checkpoint of step 0.*from 8"):
        other.collect(POLICY, 4, start=0)
    other.close()

    assert step == 8
    for block in (first, again, anew):
        assert np.array_equal(block.rewards, whole.rewards[4:])
        assert np.array_equal(block.last_observations["policy"], whole.last_observations["policy"])


@pytest.mark.parametrize(
    ("first", "count", "overrides", "expected"),
    [
        (3, 2, {}, r"worlds: 3:5 are not among the 4 worlds"),
        (0, 2, {"task.autoreset": "disabled"}, r"task\.autoreset is 'disabled'"),
    ],
)
def test_a_shard_that_cannot_be_is_refused(tmp_path, first, count, overrides, expected):
    with pytest.raises(ConfigError, match=expected):
        RolloutShard(CART, first, count, tmp_path, SMALL | overrides)


@pytest.mark.slow
def test_a_folder_of_another_run_is_refused(tmp_path):
    shard = RolloutShard(CART, 0, 1, tmp_path, SMALL)
    shard.collect(POLICY, 1)
    shard.close()

    with pytest.raises(ConfigError, match=r"is of another configuration; use a folder for each run"):
        RolloutShard(CART, 0, 1, tmp_path, SMALL | {"simulation.seed": 7})
