"""Trainers: their contract, the keys of `[trainer]` that all have, and those of the trainers that Pippin brings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import attrs
from attrs.validators import deep_iterable, ge, gt, in_, le, min_len, optional
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


def _positive_or_auto(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    if value != "auto":
        positive(instance, attribute, value)


@attrs.frozen(kw_only=True)
class TrainerConfig:
    """Settings of a training: those that every trainer has."""

    is_data_parallel: ClassVar[bool] = False
    """Whether several processes may learn together: each has an `env` with some of the worlds and a seed of its own,
    and averages gradients and statistics by the group of `torch.distributed`, so that all have the same networks."""

    iterations: int = attrs.field(default=500, validator=ge(1))
    """Number of iterations: each collects steps of all worlds, and learns from them."""

    steps: int = attrs.field(default=24, validator=ge(1))
    """Control steps of each world in an iteration."""

    learning_rate: float = attrs.field(default=1e-3, validator=positive)
    """Size of gradient steps."""

    anneal: bool = False
    """Whether the learning rate falls from one iteration to the next, in a line that ends at 0 after the last one."""

    gamma: float = attrs.field(default=0.99, validator=[finite, gt(0.0), le(1.0)])
    """Discount of a reward for each control step that it lies ahead."""

    hidden: tuple[int, ...] = attrs.field(default=(64, 64), validator=[min_len(1), deep_iterable(ge(1))])
    """Units of each hidden layer, of the policy and of the value alike."""

    activation: Literal["elu", "relu", "tanh"] = attrs.field(default="elu", validator=in_(("elu", "relu", "tanh")))
    """Function of the hidden units."""

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
    """Further settings of the library's algorithm, by the library's names; they replace those above."""

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
class PpoConfig(TrainerConfig):
    """Settings of PPO, by any library."""

    epochs: int = attrs.field(default=5, validator=ge(1))
    """Passes over the steps of an iteration."""

    batches: int = attrs.field(default=4, validator=ge(1))
    """Parts into which a pass divides the steps, with a gradient step for each."""

    lam: float = attrs.field(default=0.95, validator=[finite, ge(0.0), le(1.0)])
    """Decay λ of generalised advantage estimation."""

    clip: float = attrs.field(default=0.2, validator=positive)
    """Largest change of the ratio of probabilities that the objective rewards."""

    entropy: float = attrs.field(default=0.0, validator=[finite, ge(0.0)])
    """Weight of the entropy of the actions in the objective."""

    std: float = attrs.field(default=1.0, validator=positive)
    """Standard deviation of the actions at the start."""


@attrs.frozen(kw_only=True, slots=False)  # it is a second base
class RslRlModels:
    """Settings of the networks of rsl-rl-lib that remember."""

    rnn_type: Literal["lstm", "gru"] | None = attrs.field(default=None, validator=optional(in_(("lstm", "gru"))))
    """Recurrent layers before the hidden ones, of each network: by default none."""

    rnn_hidden_dim: int = attrs.field(default=256, validator=ge(1))
    """Units of a recurrent layer."""

    rnn_num_layers: int = attrs.field(default=1, validator=ge(1))
    """Number of recurrent layers."""

    least_std: float = attrs.field(default=1e-6, validator=positive)
    """Standard deviation below which that of the actions never falls."""


@attrs.frozen(kw_only=True)
class RslRlConfig(RslRlModels, PpoConfig):
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

    symmetry: str | None = None
    """Label in `[task.symmetry]`: the networks learn from each step and from its mirror image; by default not."""

    mirror_loss: float = attrs.field(default=0.0, validator=[finite, ge(0.0), _needs_symmetry])
    """Weight of the mean squared difference between the action in the mirror and the mirrored action."""


class Sb3Config(PpoConfig):
    """PPO of Stable-Baselines3."""

    implementation = ".sb3:TrainerSB3"
    extra = "sb3"


class SkrlConfig(PpoConfig):
    """PPO of skrl."""

    implementation = ".skrl:TrainerSkrl"
    extra = "skrl"


@attrs.frozen(kw_only=True)
class Sb3RecurrentConfig(PpoConfig):
    """PPO of sb3-contrib, with layers of long short-term memory before the hidden ones."""

    implementation = ".sb3_recurrent:TrainerSB3Recurrent"
    extra = "sb3-contrib"

    lstm_hidden_size: int = attrs.field(default=256, validator=ge(1))
    """Units of a recurrent layer."""

    n_lstm_layers: int = attrs.field(default=1, validator=ge(1))
    """Number of recurrent layers."""


@attrs.frozen(kw_only=True)
class Sb3ReplayConfig(TrainerConfig):
    """Settings of the algorithms of Stable-Baselines3 that learn from a replay buffer, by its own names."""

    learning_rate: float = attrs.field(default=3e-4, validator=positive)
    """Size of gradient steps."""

    hidden: tuple[int, ...] = attrs.field(default=(256, 256), validator=[min_len(1), deep_iterable(ge(1))])
    """Units of each hidden layer, of the policy and of the values alike."""

    activation: Literal["elu", "relu", "tanh"] = attrs.field(default="relu", validator=in_(("elu", "relu", "tanh")))
    """Function of the hidden units."""

    normalise: bool = False
    """Whether the networks read observations less their mean, divided by their standard deviation."""

    buffer_size: int = attrs.field(default=1_000_000, validator=ge(1))
    """Transitions in the replay buffer, as many of each world; the oldest ones make room."""

    learning_starts: int = attrs.field(default=1_000, validator=ge(0))
    """Transitions of all worlds, with random actions, before the networks learn."""

    batch_size: int = attrs.field(default=256, validator=ge(1))
    """Transitions that a gradient step reads."""

    tau: float = attrs.field(default=0.005, validator=[finite, gt(0.0), le(1.0)])
    """Share by which the target networks follow in a gradient step."""

    train_freq: int = attrs.field(default=1, validator=ge(1))
    """Control steps of each world from one update to the next; `steps` is a multiple."""

    gradient_steps: int = attrs.field(default=1, validator=ge(-1))
    """Gradient steps of an update; with -1, as many as there are transitions since the last one."""

    @train_freq.validator
    def _check_whole(self, _: Any, value: int) -> None:
        if self.steps % value:
            raise ValueError(f"'train_freq' must divide 'steps', which is {self.steps}: got {value}")

    @buffer_size.validator
    def _check_enough(self, _: Any, value: int) -> None:
        if value <= self.learning_starts:
            raise ValueError(
                f"'buffer_size' must be more than 'learning_starts', which is {self.learning_starts}: got {value}"
            )


@attrs.frozen(kw_only=True)
class Sb3SacConfig(Sb3ReplayConfig):
    """Soft actor-critic (SAC) of Stable-Baselines3."""

    implementation = ".sb3_replay:TrainerSAC"
    extra = "sb3"

    ent_coef: float | Literal["auto"] = attrs.field(default="auto", validator=_positive_or_auto)
    """Weight of the entropy of the actions in the objective; "auto" learns it."""


@attrs.frozen(kw_only=True)
class Sb3Td3Config(Sb3ReplayConfig):
    """Twin delayed deep deterministic policy gradient (TD3) of Stable-Baselines3."""

    implementation = ".sb3_replay:TrainerTD3"
    extra = "sb3"

    learning_rate: float = attrs.field(default=1e-3, validator=positive)
    """Size of gradient steps."""

    action_noise: float = attrs.field(default=0.1, validator=positive)
    """Standard deviation of the noise of the actions, whose bounds are -1 and 1 here."""

    policy_delay: int = attrs.field(default=2, validator=ge(1))
    """Gradient steps of the values for one of the policy."""

    target_policy_noise: float = attrs.field(default=0.2, validator=positive)
    """Standard deviation of the noise of the actions that the target networks judge."""

    target_noise_clip: float = attrs.field(default=0.5, validator=positive)
    """Size at which this noise is clipped."""


@attrs.frozen(kw_only=True)
class SkrlReplayConfig(TrainerConfig):
    """Settings of the algorithms of skrl that learn from a replay buffer, by its own names."""

    hidden: tuple[int, ...] = attrs.field(default=(256, 256), validator=[min_len(1), deep_iterable(ge(1))])
    """Units of each hidden layer, of the policy and of the values alike."""

    activation: Literal["elu", "relu", "tanh"] = attrs.field(default="relu", validator=in_(("elu", "relu", "tanh")))
    """Function of the hidden units."""

    normalise: bool = False
    """Whether the networks read observations less their mean, divided by their standard deviation."""

    memory_size: int = attrs.field(default=10_000, validator=ge(1))
    """Transitions of each world in the replay buffer; the oldest ones make room."""

    learning_starts: int = attrs.field(default=64, validator=ge(0))
    """Control steps of each world, with random actions, before the networks learn."""

    batch_size: int = attrs.field(default=256, validator=ge(1))
    """Transitions that a gradient step reads."""

    polyak: float = attrs.field(default=0.005, validator=[finite, gt(0.0), le(1.0)])
    """Share by which the target networks follow in a gradient step."""

    gradient_steps: int = attrs.field(default=1, validator=ge(1))
    """Gradient steps after each control step of all worlds."""


@attrs.frozen(kw_only=True)
class SkrlSacConfig(SkrlReplayConfig):
    """Soft actor-critic (SAC) of skrl."""

    implementation = ".skrl_replay:TrainerSkrlSAC"
    extra = "skrl"

    initial_entropy_value: float = attrs.field(default=0.2, validator=positive)
    """Weight of the entropy of the actions in the objective at the start; it is learned."""


@attrs.frozen(kw_only=True)
class SkrlTd3Config(SkrlReplayConfig):
    """Twin delayed deep deterministic policy gradient (TD3) of skrl."""

    implementation = ".skrl_replay:TrainerSkrlTD3"
    extra = "skrl"

    exploration_noise: float = attrs.field(default=0.1, validator=positive)
    """Standard deviation of the noise of the actions, whose bounds are -1 and 1 here."""

    smooth_regularization_noise: float = attrs.field(default=0.2, validator=positive)
    """Likewise, of the actions that the target networks judge."""

    smooth_regularization_clip: float = attrs.field(default=0.5, validator=positive)
    """Size at which this noise is clipped."""

    policy_delay: int = attrs.field(default=2, validator=ge(1))
    """Gradient steps of the values for one of the policy."""


@attrs.frozen(kw_only=True)
class RslRlDistillationConfig(RslRlModels, TrainerConfig):
    """Distillation of rsl-rl-lib: the policy, a student, learns to act as a teacher that the trainer `rsl-rl` trained.

    The student acts, and reads `observations`; the teacher says what it would do.
    """

    implementation = ".rsl_rl_distillation:TrainerRslRlDistillation"
    extra = "rsl-rl"

    teacher: str = attrs.field(validator=min_len(1))
    """Run folder of the teacher, whose last state counts, or one of the states in its folder `checkpoints`."""

    teacher_observations: str | None = None
    """The group of observations that the teacher reads; by default the one that it has learned with."""

    num_learning_epochs: int = attrs.field(default=2, validator=ge(1))
    """Passes over the steps of an iteration."""

    gradient_length: int = attrs.field(default=4, validator=ge(1))
    """Control steps of all worlds in a gradient step; it divides `steps` times `num_learning_epochs`."""

    loss_type: Literal["huber", "mse"] = attrs.field(default="mse", validator=in_(("huber", "mse")))
    """Measure of the difference between the actions of both."""

    std: float = attrs.field(default=0.1, validator=positive)
    """Standard deviation of the actions, so that the student sees what follows from its errors."""

    @gradient_length.validator
    def _check_whole(self, _: Any, value: int) -> None:
        if (self.steps * self.num_learning_epochs) % value:
            raise ValueError(
                f"'gradient_length' must divide 'steps' times 'num_learning_epochs', {self.steps} times"
                f" {self.num_learning_epochs}: got {value}"
            )
