"""Terms about balance: a quantity, a law over any quantity, a termination with a memory, and an event that draws."""

import attrs
from attrs.validators import ge, gt
from pippin_task import EventConfig, QuantityRewardConfig


@attrs.frozen(kw_only=True)
class BodyConfig:
    """A term of one body."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""


@attrs.frozen(kw_only=True)
class LeanConfig(BodyConfig):
    """How far a body leans."""

    implementation = ".terms:Lean"


@attrs.frozen(kw_only=True)
class PlateauConfig(QuantityRewardConfig):
    """A law that is flat near the target."""

    implementation = ".terms:Plateau"

    radius: float = attrs.field(validator=gt(0.0))
    """Distance from the target up to which the law is 1 [unit of the quantity]; it is 0 from twice this distance."""


@attrs.frozen(kw_only=True)
class LyingConfig(BodyConfig):
    """The end of an episode if a body lies for some time."""

    implementation = ".terms:Lying"

    height: float
    """Height of the body's origin below which it lies [m]."""

    patience: float = attrs.field(default=0.0, validator=ge(0.0))
    """Time for which a body may lie before the episode ends [s]."""


@attrs.frozen(kw_only=True)
class SpinConfig(EventConfig):
    """A random rotation about the vertical, at the start of an episode or from time to time."""

    implementation = ".terms:Spin"

    body: str | None = None
    """Pattern of the name of a free body; by default the first body of a world."""

    rate: float = attrs.field(validator=ge(0.0))
    """Largest angular velocity that is added [rad/s], to either side."""
