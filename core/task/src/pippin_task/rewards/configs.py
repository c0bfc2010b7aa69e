"""Configurations of rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs
from attrs.validators import ge, le, min_len, optional
from pippin.validators import finite, fraction, non_negative, only_where, positive, range_ends

from pippin_task import QuantityRewardConfig, RewardConfig
from pippin_task.config import not_empty


def _is_positive(instance: Any, attribute: attrs.Attribute[Any], value: float | Mapping[str, float]) -> None:
    for std in value.values() if isinstance(value, Mapping) else [value]:
        positive(instance, attribute, std)


class ValueConfig(QuantityRewardConfig):
    """The sum of x."""

    implementation = ".terms:Value"


@attrs.frozen(kw_only=True)
class L1Config(QuantityRewardConfig):
    """The sum of abs(x)."""

    implementation = ".terms:L1"

    wrap: bool = False
    """Whether x is an angle that is turned into the range from -pi to pi first."""

    clip: tuple[float, float] | None = attrs.field(default=None, validator=not_empty)
    """Lowest and highest x; others are clipped."""


class L2Config(L1Config):
    """The sum of x²."""

    implementation = ".terms:L2"


class LengthConfig(L1Config):
    """The length of x, a vector."""

    implementation = ".terms:Length"


@attrs.frozen(kw_only=True)
class ExpConfig(QuantityRewardConfig):
    """A reward that is 1 if x is zero, and falls to 0 with the square of x."""

    implementation = ".terms:Exp"

    std: float | Mapping[str, float] = attrs.field(validator=_is_positive)
    """Size of x [unit of the quantity] at which the reward has fallen to 1/e, or that of `tanh` to 0.24: for all
    numbers, or by pattern of their labels."""

    mean: bool = False
    """Whether the mean of the squares counts, in place of their sum: the law is then as wide for many joints."""

    wrap: bool = False
    """Whether x is an angle that is turned into the range from -pi to pi first."""


class TanhConfig(ExpConfig):
    """A reward that is 1 if x is zero, and falls to 0 with the length of x: steep also near zero."""

    implementation = ".terms:Tanh"


@attrs.frozen(kw_only=True)
class InsideConfig(QuantityRewardConfig):
    """A reward for x in a range."""

    implementation = ".terms:InsideRange"

    low: float | None = None
    """Lowest x of the range, in the unit of the quantity; by default any."""

    high: float | None = None
    """Highest x of the range, likewise."""

    def __attrs_post_init__(self) -> None:
        range_ends(self.low, self.high)


class BeyondConfig(InsideConfig):
    """A reward for any x outside a range."""

    implementation = ".terms:BeyondRange"


@attrs.frozen(kw_only=True)
class ToleranceConfig(InsideConfig):
    """A reward that is 1 for x in a range, and falls with its distance from there, as the rewards of dm_control do.

    Without `low` and `high`, it is 1 for x = 0, which is at the `target`.
    """

    implementation = ".terms:Tolerance"

    margin: float = attrs.field(validator=positive)
    """Distance from the range at which the reward has fallen to 0.1, in the unit of the quantity."""

    form: Literal["gaussian", "linear", "quadratic", "long-tail"] = "gaussian"
    """How the reward falls; a linear and a quadratic one reach 0, at 1.11 and 1.05 times the margin."""

    least: float = attrs.field(default=0.0, validator=fraction)
    """What takes the place of 0 far away, for products of several: r becomes least + (1 − least) · r."""

    def __attrs_post_init__(self) -> None:
        if (self.low, self.high) != (None, None):
            super().__attrs_post_init__()


@attrs.frozen(kw_only=True)
class OutsideRangeConfig(InsideConfig):
    """A cost of x outside a range, which is given; or which is a share of the joints' limits."""

    implementation = ".terms:OutsideRange"

    soft_limits: float | None = attrs.field(default=None, validator=optional([finite, ge(0.0), le(1.0)]))
    """Share of each joint's range of limits, about its middle, in place of `low` and `high`; for `joint-positions`."""

    def __attrs_post_init__(self) -> None:
        if self.soft_limits is None:
            super().__attrs_post_init__()
        elif any(each is not None for each in (self.low, self.high, self.target)):
            raise ValueError("'soft_limits' stands in place of 'low', 'high' and 'target'; leave those out")


@attrs.frozen(kw_only=True)
class SensorRewardConfig(RewardConfig):
    """A reward over the bodies of a contact sensor."""

    sensor: str
    """Label of the sensor, which must be in all worlds."""


@attrs.frozen(kw_only=True, slots=False)  # so that a configuration may derive from it and from another class
class OnLandingConfig:
    """Settings of a reward in the steps in which bodies land."""

    first: bool = False
    """Whether the first contact of an episode is a landing, too, as for Isaac Lab and mjlab; by default a body must
    have been in the air."""


@attrs.frozen(kw_only=True)
class AirTimeConfig(OnLandingConfig, SensorRewardConfig):
    """A reward of long steps."""

    implementation = ".terms:AirTime"

    threshold: float = attrs.field(default=0.5, validator=non_negative)
    """Time in the air that is worth nothing [s]; shorter times cost."""

    command: str | None = None
    """Label of a command; if given, only worlds count in which its first two numbers are large enough."""

    least_command: float = attrs.field(default=0.1, validator=non_negative)
    """Size of the command's first two numbers above which a world counts, in the unit of the command."""


@attrs.frozen(kw_only=True)
class LandingConfig(OnLandingConfig, SensorRewardConfig):
    """A cost of hard landings."""

    implementation = ".terms:Landing"


@attrs.frozen(kw_only=True)
class SwingHeightConfig(OnLandingConfig, QuantityRewardConfig):
    """A cost of feet that were lifted too little or too much, at their landing."""

    implementation = ".terms:SwingHeight"

    sensor: str
    """Label of the contact sensor, whose bodies are in the order of the numbers of `of`."""


@attrs.frozen(kw_only=True)
class ClearanceConfig(QuantityRewardConfig):
    """A cost of bodies that move at another height than they should, by their speed."""

    implementation = ".terms:Clearance"

    bodies: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Patterns of the names of the bodies, in the order of the numbers of `of`."""

    offset: tuple[float, float, float] | None = attrs.field(default=None, validator=finite)
    """The point of each body that has the speed, as in `slip`."""


@attrs.frozen(kw_only=True)
class SlipConfig(SensorRewardConfig):
    """A cost of bodies that slip."""

    implementation = ".terms:Slip"

    bodies: tuple[str, ...] = ()
    """Patterns of the names of the bodies that move, in the order of what the sensor senses; by default its bodies. A
    sensor of `shapes` needs them."""

    squared: bool = False
    """Whether the squares of the speeds are summed [m²/s²]."""

    offset: tuple[float, float, float] | None = attrs.field(default=None, validator=finite)
    """The point of each body that has the speed, in its axes from its origin [m]; by default its centre of mass."""


@attrs.frozen(kw_only=True)
class ContactsConfig(SensorRewardConfig):
    """A cost of contacts."""

    implementation = ".terms:Contacts"

    threshold: float = attrs.field(default=1.0, validator=non_negative)
    """Net force above which a body counts [N]."""

    excess: bool = False
    """Whether the forces above the threshold are summed [N], instead of counting the bodies."""

    history: bool = False
    """Whether the largest force of the sensor's `history` counts, instead of the last one."""

    partners: bool = attrs.field(default=False, validator=only_where(lambda own: not own.history, "no `history`"))
    """Whether a body counts by the largest force from one of the sensor's `partners`, instead of by its net force."""

    readings: bool = attrs.field(
        default=False, validator=only_where(lambda own: not (own.excess or own.history), "no `excess` or `history`")
    )
    """Whether the readings of the sensor's `history` in which any body counts are counted, instead of the bodies."""


class AliveConfig(RewardConfig):
    """A reward of each step in which no termination ends the episode."""

    implementation = ".terms:Alive"


@attrs.frozen(kw_only=True)
class TerminatedConfig(RewardConfig):
    """A reward of the last step of an episode, if a termination ends it."""

    implementation = ".terms:Terminated"

    once: bool = False
    """Whether the weight is that of the whole event, even if `task.reward_rate` is per second: the value is then
    divided by the length of a control step."""
