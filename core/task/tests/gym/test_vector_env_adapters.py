"""Adapters for other libraries, with the real libraries: `uv run --group dev --group rl pytest core/task/tests/gym`."""

import numpy as np
import pippin
import pippin_task.gym
import pytest

PUSH = np.full((4, 1), 3.0, dtype=np.float32)


def test_an_adapter_wants_its_backend_and_the_same_step(make):
    with pytest.raises(
        pippin.ConfigError, match="RslRlVecEnvWrapper: expected an environment with backend='torch', got 'numpy'"
    ):
        pippin_task.gym.RslRlVecEnvWrapper(make())
    with pytest.raises(
        pippin.ConfigError, match="Sb3VecEnvWrapper: expected an environment with autoreset='same-step', got 'next"
    ):
        pippin_task.gym.Sb3VecEnvWrapper(make(autoreset="next-step"))
    with pytest.raises(
        pippin.ConfigError, match=r"Sb3VecEnvWrapper: expected a pippin_task\.gym\.VectorEnv without wrappers, got int"
    ):
        pippin_task.gym.Sb3VecEnvWrapper(1)


def test_stable_baselines_gets_the_last_observation_of_an_episode(make):
    pytest.importorskip("stable_baselines3")
    env, plain = pippin_task.gym.Sb3VecEnvWrapper(make(max_episode_steps=3)), make(max_episode_steps=3)
    env.seed(2)
    start = env.reset()
    expected, _ = plain.reset(seed=[2, 3, 4, 5])

    for _ in range(3):
        observations, rewards, dones, infos = env.step(PUSH)
        _, _, terminated, truncated, info = plain.step(PUSH)

    np.testing.assert_array_equal(start, expected)
    assert dones.all()
    assert [each["TimeLimit.truncated"] for each in infos] == truncated.tolist()
    np.testing.assert_array_equal([each["terminal_observation"] for each in infos], info["final_obs"])
    assert all(each["episode"]["l"] == 3 for each in infos)
    assert observations.shape == (4, 4)
    assert rewards.tolist() == (1.0 - terminated).tolist()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_stable_baselines_trains(make):
    sb3 = pytest.importorskip("stable_baselines3")
    env = pippin_task.gym.Sb3VecEnvWrapper(make())

    model = sb3.PPO("MlpPolicy", env, n_steps=16, batch_size=32, n_epochs=1, device="cpu").learn(128)

    assert model.num_timesteps == 128
    assert len(model.ep_info_buffer) > 0


@pytest.mark.parametrize("shards", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_rsl_rl_gets_groups_and_time_outs(make, shards):
    torch = pytest.importorskip("torch")
    pytest.importorskip("rsl_rl")
    env = pippin_task.gym.RslRlVecEnvWrapper(make(backend="torch", max_episode_steps=3, shards=shards))
    env.episode_length_buf = torch.tensor([2, 0, 0, 0], dtype=torch.int32)
    before = env.get_observations()

    observations, rewards, dones, extras = env.step(torch.zeros((4, 1)))

    assert torch.equal(before["policy"], env.get_observations()["policy"]) is False
    assert torch.equal(observations["policy"], env.get_observations()["policy"])
    assert dones.tolist() == extras["time_outs"].tolist() == [True, False, False, False]
    assert rewards.tolist() == [1.0] * 4
    assert extras["log"]["/episode/alive"] == 1.0
    assert (env.num_actions, env.max_episode_length, env.device) == (1, 3, "cpu")


@pytest.mark.filterwarnings("ignore")
def test_rsl_rl_trains(make):
    pytest.importorskip("rsl_rl")
    from rsl_rl.runners import OnPolicyRunner

    env = pippin_task.gym.RslRlVecEnvWrapper(make(backend="torch", max_episode_steps=50))
    network = {"class_name": "MLPModel", "hidden_dims": [16], "activation": "tanh"}
    noise = {"class_name": "GaussianDistribution", "init_std": 1.0}
    settings = {
        "num_steps_per_env": 8,
        "save_interval": 100,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**network, "distribution_cfg": noise},
        "critic": network,
        "algorithm": {"class_name": "PPO", "num_learning_epochs": 1, "num_mini_batches": 2},
    }
    runner = OnPolicyRunner(env, settings, log_dir=None, device="cpu")

    runner.learn(2, init_at_random_ep_len=True)

    assert env.env.simulation.step_count == 16


@pytest.mark.filterwarnings("ignore")
def test_skrl_wraps_the_environment_as_it_is(make):
    torch = pytest.importorskip("torch")
    wrap_env = pytest.importorskip("skrl.envs.wrappers.torch").wrap_env
    env = wrap_env(make())

    first, _ = env.reset()
    observations, reward, terminated, *_ = env.step(torch.full((4, 1), 0.5))

    assert first.shape == observations.shape == (4, 4)
    assert reward.shape == terminated.shape == (4, 1)
