"""PPO of rsl-rl-lib."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from pippin import ConfigError
from pippin_task.gym import Mirror, RslRlVecEnvWrapper, VectorEnv
from rsl_rl.models import MLPModel
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

from .configs import RslRlConfig
from .episodes import TrainingEnv
from .networks import write_policy
from .torch_layers import layers_of, limit_threads, read_parts, recurrent_of, set_rate


class DistributedRunner(OnPolicyRunner):
    """A runner in the process group that is there, if there is one; rsl-rl-lib itself makes one of GPUs alone."""

    def _configure_multi_gpu(self) -> None:
        distributed = torch.distributed
        is_alone = not distributed.is_initialized()
        self.gpu_global_rank, self.gpu_world_size = (
            (0, 1) if is_alone else (distributed.get_rank(), distributed.get_world_size())
        )
        self.is_distributed = False  # else each call of `learn` sends all parameters, and prints
        self.cfg["multi_gpu"] = (
            None if is_alone else {"global_rank": self.gpu_global_rank, "world_size": self.gpu_world_size}
        )


class TrainerRslRl:
    """A runner of rsl-rl-lib, one iteration at a time."""

    backend = "torch"

    def __init__(self, config: RslRlConfig, env: TrainingEnv, seed: int) -> None:
        self._config, self._env = config, env
        limit_threads(config.threads)
        torch.manual_seed(seed)
        wrapper = RslRlVecEnvWrapper(env)
        groups = list(wrapper.get_observations().keys())
        actor = config.observations if config.observations in groups else groups[0]
        _refuse_few_worlds(config, env)
        algorithm = {
            "class_name": "PPO",
            "num_learning_epochs": config.epochs,
            "num_mini_batches": config.batches,
            "learning_rate": config.learning_rate,
            "schedule": "adaptive" if config.desired_kl else "fixed",
            "desired_kl": config.desired_kl or 0.01,
            "gamma": config.gamma,
            "lam": config.lam,
            "clip_param": config.clip,
            "entropy_coef": config.entropy,
            "use_clipped_value_loss": False,
            **_symmetry(config, env),
            **config.options,
        }
        settings: dict[str, Any] = {
            "num_steps_per_env": config.steps,
            "save_interval": sys.maxsize,
            "obs_groups": {"actor": [actor], "critic": ["critic" if "critic" in groups else actor]},
            "actor": {**model_of(config), "distribution_cfg": noise_of(config.std, config.least_std)},
            "critic": model_of(config),
            "algorithm": algorithm,
        }
        self._runner = DistributedRunner(wrapper, settings, log_dir=None, device=env.device)
        self._runner.logger.log = self._note
        if self._runner.alg.is_multi_gpu:
            self._runner.alg.broadcast_parameters()
        wrapper.value = self._value

    def _value(self, seen: TensorDict) -> torch.Tensor:
        """Return the discounted values of observations, and leave the memory of the value as it is."""
        critic = self._runner.alg.critic
        memory = critic.get_hidden_state()
        values = critic(seen).detach().squeeze(-1)
        critic.reset(hidden_state=memory)
        return self._runner.alg.gamma * values

    def learn(self) -> dict[str, float]:
        """Train for one iteration."""
        if self._config.anneal:
            set_rate(self._runner.alg.optimizer, self._config.rate(self._env.progress))
        self._runner.learn(1)
        return self._numbers | {"kl": self._change(), "learning_rate": self._runner.alg.optimizer.param_groups[0]["lr"]}

    def _note(self, *, loss_dict: dict[str, float], action_std: torch.Tensor, **_: Any) -> None:
        """Take what the runner would log."""
        self._numbers = {"std": action_std.mean().item(), **{f"loss/{key}": each for key, each in loss_dict.items()}}

    def _change(self) -> float:
        """Return the divergence of the policy from that before the iteration, where its last step was taken."""
        storage, actor = self._runner.alg.storage, self._runner.alg.get_policy()
        before, memory = tuple(each[-1] for each in storage.distribution_params), actor.get_hidden_state()
        with torch.no_grad():
            if actor.is_recurrent:
                last = tuple(each[-1].contiguous() for each in storage.saved_hidden_state_a or ())
                actor.reset(hidden_state=last[0] if len(last) == 1 else last or None)
            actor.distribution.update(actor.mlp(actor.get_latent(storage.observations[-1])))
            change = actor.get_kl_divergence(before, actor.output_distribution_params).mean().item()
        actor.reset(hidden_state=memory)
        return change

    def save(self, path: Path) -> None:
        """Write networks, optimiser and statistics."""
        torch.save(self._runner.alg.save(), path)

    def load(self, path: Path) -> None:
        """Continue from a file."""
        parts = read_parts(path)
        self._runner.alg.load(parts, None, True)

    def write_policy(self, path: Path) -> None:
        """Write the mean action."""
        write_model(path, self._runner.alg.get_policy(), self._config.activation)


def model_of(config: Any) -> dict[str, Any]:
    """Return the settings of a network, by the library's names."""
    network: dict[str, Any] = {
        "class_name": "MLPModel",
        "hidden_dims": list(config.hidden),
        "activation": config.activation,
        "obs_normalization": config.normalise,
    }
    if config.rnn_type is None:
        return network
    sizes = {key: getattr(config, key) for key in ("rnn_type", "rnn_hidden_dim", "rnn_num_layers")}
    return network | {"class_name": "RNNModel", **sizes}


def noise_of(std: float, least: float) -> dict[str, Any]:
    """Return the settings of the noise of the actions, by the library's names."""
    return {"class_name": "GaussianDistribution", "init_std": std, "std_range": [least, 1e6]}


def write_model(path: Path, model: MLPModel, activation: str) -> None:
    """Write the mean action of a network as an ONNX file."""
    mean = std = None
    if model.obs_normalization:
        mean = model.obs_normalizer.mean.cpu().numpy().ravel()
        std = model.obs_normalizer.std.cpu().numpy().ravel() + model.obs_normalizer.eps
    recurrent = recurrent_of(model.rnn.rnn) if model.is_recurrent else ()
    write_policy(path, layers_of(model.mlp), activation, mean=mean, std=std, recurrent=recurrent)


def doubled(mirror: Mirror) -> Callable[..., tuple[Any, Any]]:
    """Return what rsl-rl-lib calls to augment a batch: it gives each row, and then each row in the mirror."""

    def double(env: Any, obs: TensorDict | None, actions: torch.Tensor | None) -> tuple[Any, Any]:
        if obs is not None:
            mirrored = TensorDict(mirror.observations(dict(obs.items())), batch_size=obs.batch_size)
            obs = torch.cat([obs, mirrored])
        return obs, None if actions is None else torch.cat([actions, mirror.actions(actions)])

    return double


def _refuse_few_worlds(config: RslRlConfig, env: VectorEnv) -> None:
    """Refuse batches without a world: those of recurrent networks have whole worlds."""
    if config.rnn_type is not None and env.num_envs % config.batches:
        raise ConfigError(
            f"trainer.batches: {env.num_envs} worlds do not split evenly into {config.batches} batches, and a recurrent"
            " network learns from whole worlds; take a divisor"
        )


def _symmetry(config: RslRlConfig, env: VectorEnv) -> dict[str, Any]:
    if config.symmetry is None:
        return {}
    if config.rnn_type is not None:
        raise ConfigError("trainer.symmetry: rsl-rl-lib mirrors no recurrent networks; leave symmetry or rnn_type out")
    if config.symmetry not in env.facts.mirrors:
        known = ", ".join(env.facts.mirrors) or "none; add a table [task.symmetry.LABEL]"
        raise ConfigError(f"trainer.symmetry: no symmetry is labelled {config.symmetry!r}; labels: {known}")
    extension = {
        "data_augmentation_func": doubled(env.mirror(config.symmetry)),
        "use_data_augmentation": True,
        "use_mirror_loss": config.mirror_loss > 0.0,
        "mirror_loss_coeff": config.mirror_loss,
    }
    return {"symmetry_cfg": extension}
