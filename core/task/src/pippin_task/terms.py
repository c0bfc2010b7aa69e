"""The base classes of terms. Each is made once, when the simulation is bound, and then launches kernels.

A term's methods may be recorded: they launch kernels and copy arrays, and read no array on the host. Errors in a
configuration are `pippin.ConfigError`s that begin with the key; the task puts the key of the term's table in front.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import attrs
from pippin import ComponentConfig, ConfigError
from pippin.validators import finite, ordered

if TYPE_CHECKING:
    import newton
    import numpy as np
    import warp as wp

    from .context import TermContext


class Term(abc.ABC):  # noqa: B024 - its subclasses have the abstract methods
    """A plugin in a task.

    Args:
        config: The plugin's configuration.
        context: The task and the simulation as the term sees them.
    """

    is_capturable: bool = True
    """Whether its methods may be recorded; one term that may not lets the whole task run eagerly."""

    numbers: Mapping[str, wp.array] = MappingProxyType({})
    """Numbers of its table that a curriculum may change, by key: arrays on the device, shape [numbers], which the
    kernels of the term read."""

    def __init__(self, config: Any, context: TermContext) -> None:
        self.config, self.context = config, context

    def reset(self, world_mask: wp.array[wp.bool]) -> None:  # noqa: B027 (most terms remember nothing)
        """Forget what is remembered of the masked worlds; mask of shape [world_count + 1]."""

    def recipe(self) -> Mapping[str, Any] | None:
        """Return how a program on a robot does the same, as JSON has it, with its `kind`; None if that cannot be said.

        A passport asks quantities and actions for it. That of a base class is not asked: what derives from
        `joint-positions` is another quantity. Numbers of joints are those of the first world.
        """
        return None


class Quantity(Term):
    """Numbers of each world, measured from the state after a control step."""

    unit: str = "1"
    """SI unit of the numbers."""

    is_differentiable: bool = False
    """Whether a tape may record `measure`: it remembers nothing, reads the state alone beside constants, and overwrites
    nothing that was read."""

    advances: bool = False
    """Whether the numbers depend on a command or on the time of the episode, which advance after rewards and
    terminations are judged. They are measured once more then, for the last observations of an episode."""

    values: wp.array
    """The numbers that the task measured last, shape [world_count, width]; made by the task, unless the quantity is an
    array that already exists."""

    labels: Sequence[str]
    """A name for each number of a world: of a joint, or of an axis. Their count is the width. A plugin sets them."""

    @abc.abstractmethod
    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the numbers of all worlds, shape [world_count, width]. May be called twice for one state."""

    def chosen_columns(self, axes: str | None) -> list[int]:
        """Return the columns that some axes choose; all of them for None.

        A quantity of several vectors has labels such as `foot/x`; then the axes of each are chosen.

        Raises:
            ConfigError: The quantity is not a vector, or an axis is unknown or repeated.
        """
        labels = list(self.labels)
        if axes is None:
            return list(range(len(labels)))
        if not labels or [label.rpartition("/")[2] for label in labels] != list("xyz") * (len(labels) // 3):
            raise ConfigError(f"axes: the quantity has {', '.join(labels)}, not the axes x, y, z; leave `axes` out")
        if not axes or len(set(axes)) < len(axes) or set(axes) - set("xyz"):
            raise ConfigError(f"axes: got {axes!r}; write some of x, y, z, each once, such as 'xy'")
        return [first + "xyz".index(axis) for first in range(0, len(labels), 3) for axis in axes]


class Action(Term):
    """Numbers of the action that set targets or efforts, once per control step."""

    labels: Sequence[str]
    """A name for each number of the action that it takes. Their count is the width. A plugin sets them."""

    _clip: Sequence[float] = (-math.inf, math.inf)
    """Lowest and highest number that counts."""

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest value of each number, shape [width], for the action space; by default without bounds."""
        import numpy as np

        low, high = (np.full(len(self.labels), end, dtype=np.float32) for end in self._clip)
        return low, high

    @abc.abstractmethod
    def apply(self, action: wp.array) -> None:
        """Set the targets of the control step that begins; `action` has shape [world_count, width]."""


@attrs.frozen(kw_only=True)
class RewardConfig:
    """Settings of every reward; each plugin adds its own."""

    weight: float = attrs.field(validator=finite)
    """Factor of the term, per second or per step as `task.reward_rate` says; negative for a cost."""

    times: Annotated[ComponentConfig, "reward"] | None = None
    """Another reward, by whose value and weight this one is multiplied: a second law, or a gate such as `beyond` of a
    command, which lets the term count in some worlds only."""


class Reward(Term):
    """A reward: one number per world; the task multiplies it by the weight and sums the terms."""

    @abc.abstractmethod
    def evaluate(self, out: wp.array[float]) -> None:
        """Write the value of each world without its weight, shape [world_count], for the state before a reset."""


@attrs.frozen(kw_only=True, slots=False)  # so that a configuration may derive from it and from another class
class TerminationConfig:
    """Settings of every termination; each plugin adds its own."""

    truncates: bool = False
    """Whether the end counts as that of the time: the world stays worth what it is worth, and a learner reckons with
    that. Otherwise the end is final."""


class Termination(Term):
    """A condition that ends the episode of a world."""

    @abc.abstractmethod
    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Write whether the episode of each world ends, shape [world_count]."""


def _above_zero(instance: Any, attribute: attrs.Attribute[Any], value: tuple[float, float] | None) -> None:
    ordered(instance, attribute, value)
    if value is not None and value[0] <= 0.0:
        raise ValueError(f"'{attribute.name}' must be a range [low, high] above 0: {list(value)}")


def _belongs_to_intervals(
    instance: EventConfig, attribute: attrs.Attribute[Any], value: tuple[float, float] | None
) -> None:
    if (value is not None) != (instance.when == "interval"):
        raise ValueError(f"'period' needs when = \"interval\", which needs it: got {value} and {instance.when!r}")
    _above_zero(instance, attribute, value)


@attrs.frozen(kw_only=True)
class EventConfig:
    """Settings of every event; each plugin adds its own."""

    adds_forces: ClassVar[bool] = False
    """Whether the event has an `add_forces` of its own: with such an event, a task acts in each substep."""

    when: Literal["startup", "reset", "interval"] = "reset"
    """Time of the event: once at the start, at the beginning of each episode, or after random times."""

    period: tuple[float, float] | None = attrs.field(default=None, validator=_belongs_to_intervals)
    """Range of the time from one event to the next in a world [s], for `when = "interval"`: at least a control step. A
    time that ends within a step is over at its end, and the next one begins where it ended."""


class Event(Term):
    """A random change of some worlds. A change of the model starts from the values that the model was built with."""

    @abc.abstractmethod
    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Change the masked worlds: joint coordinates and velocities of `state`, or arrays of the model.

        The task tells the solver of `model_changes` afterwards, and computes the bodies from the joints if
        `moves_bodies`. Mask of shape [world_count + 1].
        """

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """Put back what the event found in the masked worlds when it was made; mask of shape [world_count + 1].

        The task calls it at the beginning of an episode if `when` is `interval`, so that an episode does not depend on
        the one before; an event with `model_changes` must have it then. The solver is told of `model_changes`.
        """

    def add_forces(self, state: newton.State, dt: float) -> None:
        """Add to the forces in `state.body_f` for a substep of `dt` [s]; its configuration has `adds_forces`."""

    model_changes: frozenset[str] = frozenset()
    """Names in `newton.ModelFlags` of what it changes in the model."""

    moves_bodies: bool = False
    """Whether the bodies must be computed anew from the joints."""


@attrs.frozen(kw_only=True)
class CommandConfig:
    """Settings of every command; each plugin adds its own."""

    period: tuple[float, float] | None = attrs.field(default=None, validator=_above_zero)
    """Range of the time from one draw to the next in an episode [s], as for events; by default, only a reset draws."""


class Command(Term):
    """A target for each world, such as a velocity, drawn at a reset and after random times."""

    unit: str = "1"
    """SI unit of the numbers."""

    labels: Sequence[str]
    """A name for each number of a world. A plugin sets them."""

    value: wp.array
    """The numbers, shape [world_count, width]."""

    @abc.abstractmethod
    def resample(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the numbers of the masked worlds anew; mask of shape [world_count + 1]."""

    def update(self, state: newton.State) -> None:
        """Follow the state from which the next control step starts, for example to hold a heading.

        May be called twice for one state.
        """


class Curriculum(Term):
    """Numbers that change while a policy learns: those of other terms, in arrays on the device, and no part of a graph.

    Resets leave them as they are, and a checkpoint has them.
    """

    labels: Sequence[str]
    """A name for each number of a world. A plugin sets them."""

    value: wp.array
    """The present numbers, for recorders, shape [world_count, width]."""

    @abc.abstractmethod
    def update(self, finished: wp.array[wp.bool]) -> None:
        """Write the numbers after a control step, before the worlds whose episode ended are reset.

        `finished` are the worlds whose episode ended in this step, shape [world_count]. It is called once more when the
        task is made, for the numbers of the first step. Then no episode has ended.
        """


class Metric(Term):
    """A number of each world that tells how its episode goes. Nothing is learned from it, and it changes nothing."""

    is_flag: bool = False
    """Whether the numbers are 0 or 1, as those of a success."""

    @abc.abstractmethod
    def evaluate(self, out: wp.array[float]) -> None:
        """Write the number of each world's episode so far, shape [world_count], for the state before a reset.

        It is called once in each control step. What it writes at the end of an episode is the number of the episode.
        """


@attrs.frozen(kw_only=True, slots=False)  # so that a configuration may derive from it and from another class
class DifferenceConfig:
    """Settings of x, the numbers of a quantity minus a target."""

    of: Annotated[ComponentConfig, "quantity"]
    """The quantity: its name, or a table with its `type` and its keys."""

    axes: str | None = None
    """Components of a vector that count, or of each of several vectors: some of `x`, `y`, `z`."""

    target: float | tuple[float, ...] | str | None = attrs.field(default=None, validator=finite)
    """Target that is subtracted first: a number, one for each component, or the label of a command, whose numbers
    belong to the axes in order."""


@attrs.frozen(kw_only=True)
class QuantityRewardConfig(DifferenceConfig, RewardConfig):
    """Settings of a reward that is a function of a quantity."""


class QuantityReward(Reward):
    """A reward that is a function of x, the numbers of a quantity minus a target."""

    config: QuantityRewardConfig

    def __init__(self, config: QuantityRewardConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.values, self.columns, self.targets, self.target_columns = context.difference(
            config.of, config.axes, config.target
        )
