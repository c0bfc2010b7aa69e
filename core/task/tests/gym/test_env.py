"""One world as an environment, for Gymnasium's own checker."""

import gymnasium
import numpy as np
import pippin
import pippin_task.gym
import pytest
from gymnasium.utils.env_checker import check_env

PENDULUM = pippin_task.gym.TASKS["Pippin/InvertedPendulum-v0"]
OVERRIDES = {"solver.type": "mujoco-native", "simulation.device": "cpu"}


@pytest.fixture
def env():
    made = gymnasium.make("pippin_task.gym:Pippin/InvertedPendulum-v0", overrides=OVERRIDES, disable_env_checker=True)
    yield made
    made.close()


@pytest.mark.filterwarnings("ignore:.*(action spaces, we recommend|observation space m.* value is):UserWarning")
def test_gymnasium_accepts_one_world(env):
    check_env(env.unwrapped, skip_render_check=True)


def test_an_episode_ends_with_its_statistics(env):
    env.reset(seed=0)
    done, rewards, infos = False, [], []

    while not done:
        _, reward, done, _, info = env.step(np.array([3.0], dtype=np.float32))
        rewards.append(reward)
        infos.append(info)

    assert not any(infos[:-1])
    assert infos[-1]["episode"] == {"r": sum(rewards), "l": len(rewards)}


@pytest.mark.parametrize(("limit", "is_success"), [(10.0, True), (0.0, False)])
def test_the_end_of_an_episode_tells_whether_it_is_a_success(limit, is_success):
    success = {"type": "within", "of": "joint-positions", "limit": limit}
    with pippin_task.gym.Env(PENDULUM, overrides={**OVERRIDES, "task.metrics": {"success": success}}) as env:
        env.reset(seed=0)
        done = False
        while not done:
            _, _, done, _, info = env.step(np.array([3.0], dtype=np.float32))

    assert info["is_success"] is is_success
    assert info["episode_metrics"] == {"success": float(is_success)}


@pytest.mark.parametrize(
    ("action", "fault"),
    [(np.zeros(2, np.float32), r"expected shape \(1, 1\)"), (np.full(1, np.inf, np.float32), "not finite")],
)
def test_a_wrong_action_is_named(env, action, fault):
    env.reset()

    with pytest.raises(pippin.ConfigError, match=fault):
        env.step(action)
