"""Tasks of robots whose files are in packages of the group `robots`, which steps them nowhere else."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from pippin_task.gym import VectorEnv

FOLDER = Path(__file__).parents[4] / "docs" / "examples" / "robots"
FILES = sorted(FOLDER.glob("*.toml"))
NUMBERS = {
    "go1_rough": (48 + 17 * 11, 12),
    "go1_velocity": (48, 12),
}
"""Numbers of the observation and of the action: mjlab's, where it has the task."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_file_of_a_task_is_short_and_says_where_it_comes_from(file):
    lines = file.read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 90
    assert lines[0].startswith(("# mjlab's ", "# Playground's "))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mjlab") is None, reason="no files of robots")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_robot_stands_and_is_paid(file):
    """Half a second without an action: the spaces are the task's own, and every reward is finite."""
    env = VectorEnv(file, num_envs=7, overrides={"simulation.device": "cpu"})
    observed, _ = env.reset(seed=1)
    numbers, actions = NUMBERS[file.stem]
    assert observed.shape == (7, numbers)
    assert env.single_action_space.shape == (actions,)
    for _ in range(20):
        observed, reward, terminated, *_ = env.step(np.zeros((7, actions), dtype=np.float32))
        assert np.isfinite(observed).all()
        assert np.isfinite(reward).all()
        assert not terminated.any()
    terms = dict(zip(env.task.rewards, env.task.episodes.reward_terms.numpy(), strict=True))
    env.close()

    assert (terms["upright"] > 0.7).all()
    assert (reward > 0.0).all()
