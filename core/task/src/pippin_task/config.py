"""The `[task]` table, what makes a simulation an environment to learn in, and the `[policy]` table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import attrs
from attrs.validators import deep_iterable, deep_mapping, ge, instance_of, min_len, optional
from pippin import ComponentConfig, FilePath
from pippin.labels import compiled
from pippin.validators import finite, kept_readings, positive


def not_empty(instance: Any, attribute: attrs.Attribute[Any], value: tuple[float, float] | None) -> None:
    """Reject a range whose lowest value is not below its highest; None is permitted."""
    if value is not None and not value[0] < value[1]:
        raise ValueError(f"'{attribute.name}' must be a range [low, high] with low < high: {list(value)}")


def _delay(instance: Any, attribute: attrs.Attribute[Any], value: tuple[int, int]) -> None:
    if not 0 <= value[0] <= value[1]:
        raise ValueError(f"'{attribute.name}' must be steps [low, high] with 0 <= low <= high: {list(value)}")
    kept_readings(instance, attribute, value[1])


def _pattern(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    try:
        compiled(value)
    except (re.error, TypeError) as error:
        raise ValueError(f"'{attribute.name}' must have regular expressions, got {value!r} ({error})") from error


@attrs.frozen(kw_only=True)
class ObservationConfig:
    """One term of a group of observations: a quantity, and what becomes of its numbers, in the order of these keys."""

    of: Annotated[ComponentConfig, "quantity"]
    """The quantity: its name, or a table with its `type` and its keys."""

    axes: str | None = None
    """Components to keep, if the quantity is a vector: some of `x`, `y`, `z`, for example `"xy"`."""

    noise: float = attrs.field(default=0.0, validator=[finite, ge(0.0)])
    """Half width of uniform noise, in the unit of the quantity."""

    noise_std: float = attrs.field(default=0.0, validator=[finite, ge(0.0)])
    """Standard deviation of normal noise, in the unit of the quantity."""

    clip: tuple[float, float] | None = attrs.field(default=None, validator=not_empty)
    """Lowest and highest value."""

    scale: float = attrs.field(default=1.0, validator=finite)
    """Factor of the values."""

    delay: tuple[int, int] = attrs.field(default=(0, 0), validator=_delay)
    """Least and largest number of control steps by which the readings are late, drawn for each world at each reset.
    Until a reading is there, it is the first one after the reset."""

    history: int = attrs.field(default=1, validator=[ge(1), kept_readings])
    """Number of readings side by side, the oldest first; after a reset all are the first one."""


@attrs.frozen(kw_only=True)
class SymmetryConfig:
    """A reflection left to right, at the plane of x and z, by the names of parts."""

    names: Mapping[str, str] = attrs.field(validator=[min_len(1), deep_mapping(_pattern, instance_of(str))])
    """Names of joints and bodies of one side, as patterns, and those of the other side, with `$1` for the first group:
    `{ "L(.*)" = "R$1" }`. What no pattern matches is its own partner."""

    flip: tuple[str, ...] = attrs.field(default=(), validator=deep_iterable(_pattern))
    """Patterns of names of joints whose numbers change their sign: those that turn the other way round in the mirror
    than their partners do."""


@attrs.frozen(kw_only=True)
class TaskConfig:
    """The `[task]` table: actions, observations, rewards, ends and random starts of episodes."""

    implementation = "pippin_task.task:Task"

    episode_length: float | None = attrs.field(default=None, validator=optional(positive))
    """Time after which an episode is truncated [s], a whole number of control steps; by default never."""

    autoreset: Literal["same-step", "next-step", "disabled"] = "same-step"
    """Time of the reset of a world whose episode ended: within that step, within the next one, or by the caller."""

    solvers: tuple[str, ...] = ()
    """Solvers of the worlds of an environment, to learn on several kinds of physics: equal numbers of neighbouring
    worlds for each, in processes of their own. `"NAME@FOLDER"` has its engine in an environment. By default all worlds
    have the solver of the table `[solver]`, whose keys count where its own name is in the list."""

    reward_rate: Literal["second", "step"] = "second"
    """Unit of the weights: per second (multiplied by the length of a control step), or per step."""

    actions: Mapping[str, Annotated[ComponentConfig, "action"]] = attrs.field(factory=dict)
    """Meanings of the action's numbers, side by side in this order."""

    action_delay: tuple[int, int] = attrs.field(default=(0, 0), validator=_delay)
    """Least and largest number of control steps after which an action takes effect, drawn for each world at each
    reset. Until then its numbers count as zero. Rewards and observations of `last-action` have the action as given."""

    observations: Mapping[str, Mapping[str, ObservationConfig]] = attrs.field(factory=dict)
    """Groups of terms, side by side in this order."""

    commands: Mapping[str, Annotated[ComponentConfig, "command"]] = attrs.field(factory=dict)
    """Targets that are drawn at random, such as a velocity, for rewards and observations."""

    rewards: Mapping[str, Annotated[ComponentConfig, "reward"]] = attrs.field(factory=dict)
    """Terms of the reward, with a `weight` each; their weighted sum is the reward of a step."""

    terminations: Mapping[str, Annotated[ComponentConfig, "termination"]] = attrs.field(factory=dict)
    """Conditions that end an episode; a world whose state diverged ends in any case."""

    events: Mapping[str, Annotated[ComponentConfig, "event"]] = attrs.field(factory=dict)
    """Random changes of the simulation: at the start, at resets, or from time to time."""

    curricula: Mapping[str, Annotated[ComponentConfig, "curriculum"]] = attrs.field(factory=dict)
    """Changes of numbers of the other terms, or of the terrain's levels, while a policy learns."""

    metrics: Mapping[str, Annotated[ComponentConfig, "metric"]] = attrs.field(factory=dict)
    """Episode statistics, which are not part of the reward; the one with the label `success` is 1 if an episode is a
    success."""

    symmetry: Mapping[str, SymmetryConfig] = attrs.field(factory=dict)
    """Symmetries of the robot, for `VectorEnv.mirror`."""


@attrs.frozen(kw_only=True)
class PolicyConfig:
    """The `[policy]` table: a network that chooses the action of a task in every control step."""

    implementation = "pippin_task.policy:Policy"
    extra = "policy"
    needs = ("task",)

    path: FilePath
    """An ONNX file whose first input are the observations, and whose first output is the action. Further inputs and
    outputs are the states of a recurrent network before and after the step; they are zero in a new episode."""

    observations: str | None = None
    """The group of observations that the network reads; by default the only group."""

    check: bool = True
    """Whether a task that differs from the passport of the file is refused: another control step, other observations,
    or other meanings of the actions. Noise, delays, gains and the solver may differ. A policy as mjlab exports it is
    refused, too."""
