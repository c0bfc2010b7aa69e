"""The tilt of a body, and a reward for small numbers, as terms of Pippin's tasks. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import gt
from pippin.task import Quantity, QuantityReward, QuantityRewardConfig


@attrs.frozen(kw_only=True)
class TiltConfig:
    """The angle between the z axis of a body and the vertical."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""


class QuantityDemo(Quantity):
    """The quantity `demo`: the tilt of a body, 0 upright and π upside down."""

    Config = TiltConfig
    unit = "rad"
    labels = ("tilt",)

    def __init__(self, config, context):
        super().__init__(config, context)
        self._bodies = context.root(config.body)

    def measure(self, state, out):
        """Write the angle of each world."""
        import warp as wp

        from .kernels import measure_tilt

        wp.launch(measure_tilt, len(out), [state.body_q, self._bodies], [out], device=out.device)


@attrs.frozen(kw_only=True)
class SmallConfig(QuantityRewardConfig):
    """A law that is 1 if all numbers of a quantity are zero, and falls slowly with their size."""

    width: float = attrs.field(default=1.0, validator=gt(0.0))
    """Size at which the law has fallen to a half [unit of the quantity]."""


class RewardDemo(QuantityReward):
    """The reward `demo`: 1 / (1 + sum of (x / width)²), x the numbers of a quantity minus a target."""

    Config = SmallConfig

    def evaluate(self, out):
        """Write the law of each world; the task multiplies it by the weight."""
        import warp as wp

        from .kernels import prefer_small

        inputs = [self.values, self.columns, self.targets, self.target_columns, self.config.width]
        wp.launch(prefer_small, len(out), inputs, [out], device=out.device)
