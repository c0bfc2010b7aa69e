"""Trainers: plugins that learn a policy in a vector environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol


class Trainer(Protocol):
    """Contract of a trainer: a class that the configuration of the group `pippin.trainers` names.

    It is called with its configuration, `env`, a `pippin_task.gym.VectorEnv` that was reset, and a seed. Only this
    process trains. `env.progress` is the share of the iterations that are done, for what changes during a training.
    """

    backend: str
    """Library of the environment's arrays: "numpy" or "torch"."""

    def __init__(self, config: Any, env: Any, seed: int) -> None: ...

    def learn(self) -> None:
        """Train for one iteration, which takes `config.steps` steps of the environment."""
        ...

    def save(self, path: Path) -> None:
        """Write all that `load` needs to continue: networks, optimiser, statistics of observations.

        Args:
            path: The file.
        """
        ...

    def load(self, path: Path) -> None:
        """Continue from a file that `save` wrote.

        Args:
            path: The file.
        """
        ...

    def write_policy(self, path: Path) -> None:
        """Write the mean action as an ONNX file for `pippin play`, whose one input are the observations.

        Args:
            path: The file.
        """
        ...
