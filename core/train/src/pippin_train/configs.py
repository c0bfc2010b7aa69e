"""Trainers: their contract, the keys of `[trainer]` that all have, and those of the trainers that Pippin brings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import attrs
from attrs.validators import deep_iterable, ge, gt, in_, le, min_len
from pippin import ComponentConfig, PluginError
from pippin.catalog import Catalog
from pippin.validators import finite, positive


class Trainer(Protocol):
    """Contract of a trainer: a class that the configuration of the group `pippin.trainers` names.

    It is called with its configuration, `env`, a `pippin_task.gym.VectorEnv` that was reset, and a seed. Only this
    process trains, or all of `torch.distributed` if the configuration is `is_data_parallel`. `env.progress` is the
    share of the iterations that are done, for what changes during a training.
    """

    backend: str
    """Library of the environment's arrays: "numpy" or "torch"."""

    def __init__(self, config: Any, env: Any, seed: int) -> None: ...

    def learn(self) -> Mapping[str, float] | None:
        """Train for one iteration, which takes `config.steps` steps of the environment.

        Returns:
            Numbers of the iteration by name, for the curves: `std`, the mean deviation of the actions, `kl`, the
            change of the policy, `learning_rate`, and others by the library's own names; or None.
        """
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


def _needs_symmetry(instance: Any, attribute: attrs.Attribute[Any], value: float) -> None:
    if value and instance.symmetry is None:
        raise ValueError(f"'{attribute.name}' needs 'symmetry', the label of a table in [task.symmetry]: got {value}")


@attrs.frozen(kw_only=True)
class TrainerConfig:
    """Settings of a training by PPO: those that every trainer has."""

    is_data_parallel: ClassVar[bool] = False
    """Whether several processes may learn together: each has an `env` with some of the worlds and a seed of its own,
    and averages gradients and statistics by the group of `torch.distributed`, so that all have the same networks."""

    iterations: int = attrs.field(default=500, validator=ge(1))
    """Number of iterations: each collects steps of all worlds, and learns from them."""

    steps: int = attrs.field(default=24, validator=ge(1))
    """Control steps of each world in an iteration."""

    epochs: int = attrs.field(default=5, validator=ge(1))
    """Passes over the steps of an iteration."""

    batches: int = attrs.field(default=4, validator=ge(1))
    """Parts into which a pass divides the steps, with a gradient step for each."""

    learning_rate: float = attrs.field(default=1e-3, validator=positive)
    """Size of gradient steps."""

    anneal: bool = False
    """Whether the learning rate falls from one iteration to the next, in a line that ends at 0 after the last one."""

    gamma: float = attrs.field(default=0.99, validator=[finite, gt(0.0), le(1.0)])
    """Discount of a reward for each control step that it lies ahead."""

    lam: float = attrs.field(default=0.95, validator=[finite, ge(0.0), le(1.0)])
    """Decay λ of generalised advantage estimation."""

    clip: float = attrs.field(default=0.2, validator=positive)
    """Largest change of the ratio of probabilities that the objective rewards."""

    entropy: float = attrs.field(default=0.0, validator=[finite, ge(0.0)])
    """Weight of the entropy of the actions in the objective."""

    hidden: tuple[int, ...] = attrs.field(default=(64, 64), validator=[min_len(1), deep_iterable(ge(1))])
    """Units of each hidden layer, of the policy and of the value alike."""

    activation: Literal["elu", "relu", "tanh"] = attrs.field(default="elu", validator=in_(("elu", "relu", "tanh")))
    """Function of the hidden units."""

    std: float = attrs.field(default=1.0, validator=positive)
    """Standard deviation of the actions at the start."""

    normalise: bool = True
    """Whether the networks read observations less their mean, divided by their standard deviation."""

    reward_scale: float = attrs.field(default=1.0, validator=positive)
    """Factor of the rewards that the networks learn from; returns are shown without it."""

    observations: str = "policy"
    """The group of observations that the policy reads; the only group counts whatever its name is."""

    save_period: int = attrs.field(default=50, validator=ge(1))
    """Iterations from one checkpoint to the next."""

    checkpoints: int = attrs.field(default=5, validator=ge(1))
    """Number of checkpoints in the folder `checkpoints`; older ones are removed, and the best policy stays."""

    played_worlds: int = attrs.field(default=8, validator=ge(0))
    """Worlds in which the policy plays one episode without noise, at checkpoints; 0 for no play."""

    play_share: float = attrs.field(default=0.05, validator=[finite, gt(0.0), le(1.0)])
    """Largest share of the time that the policy plays; it plays at fewer checkpoints where it would take more. It plays
    at the first checkpoint and at the end in any case."""

    video: bool = False
    """Whether a video of the policy is in the run folder at the end, `policy.mp4`, with the extra `video`."""

    threads: int = attrs.field(default=1, validator=ge(0))
    """Threads of PyTorch; 0 for its default. Small networks are fastest on one, and the solver needs the others."""

    options: Mapping[str, Any] = attrs.field(factory=dict)
    """Further settings of the library's PPO, by the library's names; they replace those above."""

    def rate(self, progress: float) -> float:
        """Return the learning rate.

        Args:
            progress: Share of the iterations that are done, from 0 to 1.
        """
        return self.learning_rate * (1.0 - progress) if self.anneal else self.learning_rate


def trainer_config(choice: ComponentConfig) -> TrainerConfig:
    """Return the settings of a trainer; those of another class are refused by a `PluginError`."""
    if not isinstance(choice.config, TrainerConfig):
        entry, name = Catalog.installed().find("trainer", choice.type), type(choice.config).__name__
        raise PluginError(f"{entry}: {name} is not a pippin_train.TrainerConfig; derive it from that")
    return choice.config


@attrs.frozen(kw_only=True)
class RslRlConfig(TrainerConfig):
    """PPO of rsl-rl-lib. A group of observations `critic`, if there is one, is what the value reads."""

    implementation = ".rsl_rl:TrainerRslRl"
    is_data_parallel = True
    extra = "rsl-rl"

    desired_kl: float = attrs.field(default=0.01, validator=[finite, ge(0.0)])
    """Change of the policy in an iteration to which the learning rate is adapted; with 0, the rate stays."""

    @desired_kl.validator
    def _check_one_schedule(self, _: Any, value: float) -> None:
        if self.anneal and value:
            raise ValueError(
                f"`desired_kl` adapts the rate that `anneal` lowers; set desired_kl = 0, or leave anneal out: {value:g}"
            )

    least_std: float = attrs.field(default=1e-6, validator=positive)
    """Standard deviation below which that of the actions never falls."""

    symmetry: str | None = None
    """Label in `[task.symmetry]`: the networks learn from each step and from its mirror image; by default not."""

    mirror_loss: float = attrs.field(default=0.0, validator=[finite, ge(0.0), _needs_symmetry])
    """Weight of the mean squared difference between the action in the mirror and the mirrored action."""


class Sb3Config(TrainerConfig):
    """PPO of Stable-Baselines3."""

    implementation = ".sb3:TrainerSB3"
    extra = "sb3"


class SkrlConfig(TrainerConfig):
    """PPO of skrl."""

    implementation = ".skrl:TrainerSkrl"
    extra = "skrl"
