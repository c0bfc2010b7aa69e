"""Distillation of rsl-rl-lib: a student learns to act as a teacher does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from pippin import ConfigError, load
from pippin_task.gym import RslRlVecEnvWrapper
from rsl_rl.runners import DistillationRunner

from .configs import RslRlConfig, RslRlDistillationConfig
from .episodes import TrainingEnv
from .rsl_rl import model_of, noise_of, write_model
from .torch_layers import limit_threads, read_parts, set_rate


class TrainerRslRlDistillation:
    """A runner of rsl-rl-lib, one iteration at a time."""

    backend = "torch"

    def __init__(self, config: RslRlDistillationConfig, env: TrainingEnv, seed: int) -> None:
        self._config, self._env = config, env
        limit_threads(config.threads)
        torch.manual_seed(seed)
        state, teacher = _teacher(config.teacher)
        wrapper = RslRlVecEnvWrapper(env)
        groups = list(wrapper.get_observations().keys())
        student = config.observations if config.observations in groups else groups[0]
        taught = teacher.observations if config.teacher_observations is None else config.teacher_observations
        if taught not in groups:
            raise ConfigError(
                f"trainer.teacher_observations: the teacher reads the group {taught!r}, and there are"
                f" {', '.join(groups)}; name the one with its observations"
            )
        algorithm = {
            "class_name": "Distillation",
            "num_learning_epochs": config.num_learning_epochs,
            "gradient_length": config.gradient_length,
            "learning_rate": config.learning_rate,
            "loss_type": config.loss_type,
            **config.options,
        }
        settings: dict[str, Any] = {
            "num_steps_per_env": config.steps,
            "save_interval": sys.maxsize,
            "obs_groups": {"student": [student], "teacher": [taught]},
            "student": {**model_of(config), "distribution_cfg": noise_of(config.std, config.least_std)},
            "teacher": {**model_of(teacher), "distribution_cfg": noise_of(teacher.std, teacher.least_std)},
            "algorithm": algorithm,
        }
        self._runner = DistillationRunner(wrapper, settings, log_dir=None, device=env.device)
        self._runner.logger.log = self._note
        parts = read_parts(state)
        try:
            self._runner.alg.load(parts, {"teacher": True}, True)
        except (RuntimeError, LookupError, TypeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise ConfigError(
                f"trainer.teacher: '{state}' is not the network that reads the group {taught!r}: {reason}; name the"
                " group with its observations as teacher_observations"
            ) from error

    def learn(self) -> dict[str, float]:
        """Train for one iteration."""
        if self._config.anneal:
            set_rate(self._runner.alg.optimizer, self._config.rate(self._env.progress))
        self._runner.learn(1)
        return self._numbers | {"learning_rate": self._runner.alg.optimizer.param_groups[0]["lr"]}

    def _note(self, *, loss_dict: dict[str, float], action_std: torch.Tensor, **_: Any) -> None:
        """Take what the runner would log."""
        self._numbers = {"std": action_std.mean().item(), **{f"loss/{key}": each for key, each in loss_dict.items()}}

    def save(self, path: Path) -> None:
        """Write both networks, the optimiser and the statistics."""
        torch.save(self._runner.alg.save(), path)

    def load(self, path: Path) -> None:
        """Continue from a file."""
        self._runner.alg.load(read_parts(path), None, True)

    def write_policy(self, path: Path) -> None:
        """Write the mean action of the student."""
        write_model(path, self._runner.alg.get_policy(), self._config.activation)


def _teacher(where: str) -> tuple[Path, RslRlConfig]:
    """Return the state of a teacher, and the settings of its training."""
    path = Path(where)
    folder = path if path.is_dir() else path.parent.parent
    state = path / "checkpoint.rsl-rl" if path.is_dir() else path
    if not state.is_file() or not (folder / "config.toml").is_file():
        raise ConfigError(
            f"trainer.teacher: '{where}' is no run folder of a training by 'rsl-rl', nor a state in its `checkpoints`;"
            " train the teacher first"
        )
    choice = load(folder / "config.toml").trainer
    if choice is None or not isinstance(choice.config, RslRlConfig):
        raise ConfigError(f"trainer.teacher: '{where}' was not trained by 'rsl-rl'; train the teacher by that")
    return state, choice.config
