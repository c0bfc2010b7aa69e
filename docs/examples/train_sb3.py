"""PPO of Stable-Baselines3 learns to balance the inverted pendulum.

`uv run --group rl python docs/examples/train_sb3.py [STEPS] [SEED]`
"""

import sys

import numpy as np
import pippin.gym

TASK = pippin.gym.TASKS["Pippin/InvertedPendulum-v0"]


def train(steps, seed=1):
    """Return the policy after some steps of all worlds together."""
    from stable_baselines3 import PPO

    # A small reward: with a large one, the error of the value drowns the policy in the gradient that they share.
    env = pippin.gym.VectorEnv(TASK, num_envs=64, overrides={"task.rewards.alive.weight": 0.05})
    settings = {"n_steps": 32, "batch_size": 512, "n_epochs": 8, "learning_rate": 1e-3}
    model = PPO("MlpPolicy", pippin.gym.Sb3VecEnvWrapper(env), **settings, seed=seed, device="cpu")
    model.learn(steps)
    env.close()
    return model


def evaluate(model, limit=1000):
    """Return the length of one episode in each of 64 worlds, without noise in the actions."""
    env = pippin.gym.VectorEnv(TASK, num_envs=64)
    observations, _ = env.reset(seed=0)
    lengths = np.zeros(64, dtype=int)
    for _ in range(limit):
        actions, _ = model.predict(observations, deterministic=True)
        observations, _, terminated, truncated, info = env.step(actions)
        first = (terminated | truncated) & (lengths == 0)
        lengths[first] = info["episode"]["l"][first]
    env.close()
    return np.where(lengths == 0, limit, lengths)


if __name__ == "__main__":
    arguments = [int(each) for each in sys.argv[1:]]
    lengths = evaluate(train(*(arguments or [82_000])))
    print(f"mean {lengths.mean():.0f}, least {lengths.min()} of 1000 steps")
