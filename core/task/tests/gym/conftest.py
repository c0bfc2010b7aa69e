"""The inverted pendulum as an environment."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pippin_task.gym import TASKS, VectorEnv

PENDULUM = TASKS["Pippin/InvertedPendulum-v0"]


@pytest.fixture
def make() -> Iterator[Callable[..., VectorEnv]]:
    """Return a function that makes the pendulum in four worlds on the solver that starts fastest."""
    made = []

    def build(overrides: dict[str, Any] | None = None, file: Any = PENDULUM, **options: Any) -> VectorEnv:
        overrides = {"solver.type": "mujoco-native", "simulation.device": "cpu", **(overrides or {})}
        env = VectorEnv(file, overrides=overrides, **{"num_envs": 4, **options})
        made.append(env)
        return env

    yield build
    for env in made:
        env.close()
