"""The trainers of skrl: what follows the end of an episode, and a replay buffer of many worlds."""

import csv
import json
from pathlib import Path

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from onnx.reference import ReferenceEvaluator
from pippin.cli import main
from pippin_train.configs import SkrlConfig, SkrlSacConfig, SkrlTd3Config
from pippin_train.episodes import TrainingEnv

torch = pytest.importorskip("torch")
pytest.importorskip("skrl")

from pippin_train.skrl import TrainerSkrl  # noqa: E402
from pippin_train.skrl_replay import TrainerSkrlSAC, TrainerSkrlTD3  # noqa: E402

REPLAY = {"skrl-sac": (SkrlSacConfig, TrainerSkrlSAC), "skrl-td3": (SkrlTd3Config, TrainerSkrlTD3)}


@pytest.fixture
def env(law_folder):
    """Eight carts whose episodes end by a fall, or after nine steps; the last steps are in `env.seen`."""
    env = TrainingEnv(law_folder / "law.toml", max_episode_steps=9)
    env.reset(seed=1)
    env.seen, step = [], env.step

    def noted(actions):
        env.seen.append(step(actions))
        return env.seen[-1]

    env.step = noted
    yield env
    env.close()


def test_a_time_out_adds_the_value_of_what_follows_and_a_fall_does_not(env):
    """By the rewards in the memory. The library itself takes the first state of the next episode, or nothing."""
    trainer = TrainerSkrl(SkrlConfig(steps=40, hidden=(8,), normalise=False, learning_rate=1e-12), env, 1)

    trainer.learn()

    rewards = trainer._agent.memory.get_tensor_by_name("rewards")[:, :, 0]
    _, own, terminated, truncated, infos = (
        np.array(each) if index != 4 else each for index, each in enumerate(zip(*env.seen, strict=True))
    )
    assert terminated.any()
    assert truncated.any()
    final = torch.as_tensor(np.array([each["final_obs"] for each in infos]))
    with torch.no_grad():
        values = trainer._agent.value.net(final)[:, :, 0].numpy()
    assert np.abs(values[truncated]).min() > 1e-4
    np.testing.assert_allclose(rewards.numpy() - own, 0.99 * values * truncated, atol=1e-5)


@pytest.mark.parametrize("name", REPLAY)
def test_the_memory_has_the_transitions_of_all_worlds(env, name):
    config, plugin = REPLAY[name]
    trainer = plugin(config(steps=40, learning_starts=40, memory_size=50, hidden=(8,)), env, 1)

    trainer.learn()

    memory = trainer._agent.memory
    after, terminated = (memory.get_tensor_by_name(key)[:40].numpy() for key in ("next_observations", "terminated"))
    assert memory.get_tensor_by_name("observations").shape == (50, 8, 4)
    wanted = [np.where((falls | late)[:, None], info["final_obs"], rows) for rows, _, falls, late, info in env.seen]
    np.testing.assert_array_equal(after, wanted)
    np.testing.assert_array_equal(terminated[:, :, 0], [falls for _, _, falls, _, _ in env.seen])


@pytest.mark.parametrize("name", REPLAY)
def test_the_written_policy_is_that_of_the_library(env, name, tmp_path):
    """With statistics of observations, and bounds of ±3."""
    config, plugin = REPLAY[name]
    trainer = plugin(config(steps=8, learning_starts=2, hidden=(8, 8), normalise=True), env, 1)
    trainer.learn()
    rows = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)

    trainer.write_policy(tmp_path / "policy.onnx")

    (found,) = ReferenceEvaluator(str(tmp_path / "policy.onnx")).run(None, {"observations": rows})
    with torch.no_grad():
        seen = trainer._agent._observation_preprocessor(torch.as_tensor(rows))
        wanted = trainer._agent.policy._mean({"observations": seen}).numpy()
    np.testing.assert_allclose(found, wanted, atol=2e-5)
    assert 0.01 < np.abs(found).max() <= 3.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", REPLAY)
def test_it_learns_to_balance(law_folder, name):
    """Without noise, episodes last four times as long as with random actions."""
    words = ["scene.worlds=16", "trainer={extends=false, steps=32, save_period=10}", "task.episode_length=8.0"]
    words = [word for each in words for word in ("--set", each)]
    command = ["train", "law.toml", *words, "--trainer", name, "--iterations", "40", "--out", "out"]

    result = CliRunner().invoke(main, command)

    assert result.exit_code == 0, result.output
    with open("out/training.csv", newline="") as file:
        lengths = [float(row["mean_length"]) for row in csv.DictReader(file) if row["mean_length"]]
    played = json.loads(Path("out/training.json").read_text())["played"]
    assert played["mean_length"] > 4.0 * lengths[0]


@pytest.mark.parametrize("plugin", [TrainerSkrl, TrainerSkrlSAC])
def test_several_groups_are_refused(law_folder, plugin):
    table = {"policy": {"p": {"of": "joint-positions"}}, "critic": {"p": {"of": "joint-velocities"}}}
    env = TrainingEnv(law_folder / "law.toml", overrides={"task.observations": table})

    with pytest.raises(pippin.ConfigError, match="skrl reads one group of observations here, and there are policy, cr"):
        plugin(SkrlConfig() if plugin is TrainerSkrl else SkrlSacConfig(), env, 1)

    env.close()
