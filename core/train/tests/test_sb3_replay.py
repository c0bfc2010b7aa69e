"""SAC and TD3 of Stable-Baselines3 on many worlds."""

import csv
import json
from pathlib import Path

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_train.configs import Sb3SacConfig, Sb3Td3Config
from pippin_train.episodes import TrainingEnv

pytest.importorskip("stable_baselines3")

from pippin_train.sb3_replay import TrainerSAC, TrainerTD3

TRAINERS = {"sb3-sac": (Sb3SacConfig, TrainerSAC), "sb3-td3": (Sb3Td3Config, TrainerTD3)}


@pytest.fixture
def env(law_folder):
    env = TrainingEnv(law_folder / "law.toml", max_episode_steps=9)
    env.reset(seed=1)
    yield env
    env.close()


@pytest.mark.parametrize("name", TRAINERS)
def test_the_buffer_has_the_transitions_of_all_worlds(env, name):
    """A time-out is followed by the state that came, and its value counts; that of a fall does not."""
    config, plugin = TRAINERS[name]
    trainer = plugin(config(steps=40, learning_starts=1_000, hidden=(8,)), env, 1)
    seen, step = [], env.step
    env.step = lambda actions: seen.append(step(actions)) or seen[-1]

    trainer.learn()

    buffer = trainer._model.replay_buffer
    assert (buffer.pos, buffer.observations.shape) == (40, (125_000, 8, 4))
    terminated, truncated = (np.array([each[index] for each in seen]) for index in (2, 3))
    assert terminated.any()
    assert truncated.any()
    wanted = [
        np.where(ended[:, None], info["final_obs"], rows) for rows, _, *ends, info in seen for ended in [sum(ends) > 0]
    ]
    np.testing.assert_array_equal(buffer.next_observations[:40], wanted)
    np.testing.assert_array_equal(buffer.observations[1:40], [rows for rows, *_ in seen[:-1]])
    np.testing.assert_array_equal(buffer.dones[:40] * (1 - buffer.timeouts[:40]), terminated)
    np.testing.assert_array_equal(buffer.dones[:40], terminated | truncated)


def test_gradient_steps_follow_each_step_of_all_worlds(env):
    trainer = TrainerSAC(Sb3SacConfig(steps=4, learning_starts=0, gradient_steps=3, hidden=(8,)), env, 1)

    numbers = trainer.learn()

    assert (trainer._model.num_timesteps, trainer._model._n_updates, numbers["train/n_updates"]) == (32, 12, 12)
    assert {"learning_rate", "train/actor_loss", "train/critic_loss", "train/ent_coef"} <= numbers.keys()


def test_a_resumed_policy_fills_the_buffer_before_it_learns(env, tmp_path):
    settings = Sb3SacConfig(steps=8, learning_starts=100, hidden=(8,))
    first, second = (TrainerSAC(settings, env, seed) for seed in (1, 2))
    for _ in range(3):
        first.learn()
    first.save(tmp_path / "saved")
    second.load(tmp_path / "saved")

    updates = []
    for _ in range(3):
        second.learn()
        updates.append(second._model._n_updates)

    assert second._model.log_ent_coef.item() != 0.0
    assert updates == [0, 0, 8], "64, 128, then enough of 100"


@pytest.mark.parametrize("name", TRAINERS)
def test_the_written_policy_is_that_of_the_library(env, name, tmp_path):
    """With statistics of observations, and bounds of ±3."""
    from onnx.reference import ReferenceEvaluator

    config, plugin = TRAINERS[name]
    trainer = plugin(config(steps=8, learning_starts=0, hidden=(8, 8), normalise=True), env, 1)
    trainer.learn()
    rows = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)

    trainer.write_policy(tmp_path / "policy.onnx")

    (found,) = ReferenceEvaluator(str(tmp_path / "policy.onnx")).run(None, {"observations": rows})
    wanted, _ = trainer._model.predict(trainer._normal.normalize_obs(rows), deterministic=True)
    np.testing.assert_allclose(found, wanted, atol=2e-5)
    assert np.abs(found).max() > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("name", "iterations"), [("sb3-sac", 30), ("sb3-td3", 40)])
def test_it_learns_to_balance(law_folder, name, iterations):
    """Without noise, episodes last four times as long as with random actions, after 10 to 20 thousand steps."""
    words = ["scene.worlds=16", "trainer={extends=false, steps=32, save_period=10}", "task.episode_length=8.0"]
    words = [word for each in words for word in ("--set", each)]
    command = ["train", "law.toml", *words, "--trainer", name, "--iterations", str(iterations), "--out", "out"]

    result = CliRunner().invoke(main, command)

    assert result.exit_code == 0, result.output
    with open("out/training.csv", newline="") as file:
        lengths = [float(row["mean_length"]) for row in csv.DictReader(file) if row["mean_length"]]
    played = json.loads(Path("out/training.json").read_text())["played"]
    assert played["mean_length"] > 4.0 * lengths[0]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"train_freq": 5}, "train_freq: must divide 'steps', which is 24: got 5"),
        ({"buffer_size": 1_000}, "buffer_size: must be more than 'learning_starts', which is 1000: got 1000"),
        ({"ent_coef": -1.0}, "ent_coef"),
        ({"gradient_steps": -2}, "gradient_steps"),
        ({"tau": 0.0}, "tau"),
        ({"lam": 0.9}, "lam"),
    ],
)
def test_wrong_settings_are_refused(keys, message):
    with pytest.raises(pippin.ConfigError, match=message):
        pippin.structure({"trainer": {"type": "sb3-sac", **keys}})


def test_several_groups_are_refused(law_folder):
    table = {"policy": {"p": {"of": "joint-positions"}}, "critic": {"p": {"of": "joint-velocities"}}}
    env = TrainingEnv(law_folder / "law.toml", overrides={"task.observations": table})

    with pytest.raises(pippin.ConfigError, match="reads one group of observations here, and there are"):
        TrainerTD3(Sb3Td3Config(), env, 1)

    env.close()
