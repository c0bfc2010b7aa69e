"""The environment of a training, which notes the episodes that end."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
from pippin import ConfigError, SimulationConfig
from pippin_task import passport_of, write_passport
from pippin_task.gym import VectorEnv

KEPT = 100
"""Episodes of which the mean is taken."""


class TrainingEnv(VectorEnv):
    """A vector environment that counts its steps, and keeps the returns and lengths of the last episodes."""

    def __init__(self, *args: Any, reward_scale: float = 1.0, kept: int = KEPT, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Factor of the rewards that `step` returns.
        self.reward_scale = reward_scale
        #: Control steps of all worlds so far.
        self.taken: int = 0
        #: Share of the training's iterations that are done.
        self.progress: float = 0.0
        #: Return and length of each of the last episodes, the oldest first.
        self.last_episodes: deque[tuple[float, int]] = deque(maxlen=kept)
        self._has_ended = np.zeros(self.num_envs, dtype=bool)
        self._score: Any = None

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one control step in all worlds, with `actions`."""
        observations, rewards, terminated, truncated, info = super().step(actions)
        self.taken += self.num_envs
        ended = _on_host(info["_episode"])
        if ended.any():
            self._has_ended |= ended
            returns, lengths = (_on_host(info["episode"][key])[ended].tolist() for key in ("r", "l"))
            self.last_episodes.extend(zip(returns, map(int, lengths), strict=True))
        return observations, rewards * self.reward_scale, terminated, truncated, info

    def begin_passport(self, config: SimulationConfig, observations: str) -> None:
        """Make the passport of policies that read a group of observations of a file; the only one has any name."""
        groups = config.task.observations
        self._passport = passport_of(config, observations if observations in groups else next(iter(groups)))

    def write_passport(self, policy: Path, **trained: Any) -> None:
        """Write the passport into the ONNX file of a policy, with what is said of its training."""
        write_passport(policy, self._passport | {"trained": trained})

    def take_statistics(self) -> tuple[Any, dict[str, float]]:
        """Return the score of the episodes that ended since the last call, and the means of the curricula's numbers."""
        earlier, (self._score, curricula) = self._score, self._worlds.statistics()
        return self._score if earlier is None else self._score.since(earlier), curricula

    @property
    def is_biased(self) -> bool:
        """Whether a world has ended no episode so far: those that end first are short."""
        return not self._has_ended.all()

    def means(self) -> tuple[float, float]:
        """Return the mean return and the mean length [control steps] of the last episodes; NaN before one has ended."""
        return tuple(np.mean(self.last_episodes, axis=0).tolist()) if self.last_episodes else (np.nan, np.nan)


def refuse_groups(env: VectorEnv, library: str) -> None:
    """Raise for several groups of observations, of which a library reads one here."""
    if len(groups := env.facts.groups) > 1:
        raise ConfigError(
            f"trainer: {library} reads one group of observations here, and there are {', '.join(groups)}; leave the"
            " others out, or train by 'rsl-rl'"
        )


def _on_host(values: Any) -> np.ndarray:
    return values.cpu().numpy() if hasattr(values, "cpu") else np.asarray(values)
