"""The tilt of a body, and a reward for small numbers, as terms of Pippin's tasks: the settings."""

import attrs
from attrs.validators import gt
from pippin_task import QuantityRewardConfig


@attrs.frozen(kw_only=True)
class TiltConfig:
    """The angle between the z axis of a body and the vertical."""

    implementation = ".terms:QuantityDemo"

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""


@attrs.frozen(kw_only=True)
class SmallConfig(QuantityRewardConfig):
    """A law that is 1 if all numbers of a quantity are zero, and falls slowly with their size."""

    implementation = ".terms:RewardDemo"

    width: float = attrs.field(default=1.0, validator=gt(0.0))
    """Size at which the law has fallen to a half [unit of the quantity]."""
