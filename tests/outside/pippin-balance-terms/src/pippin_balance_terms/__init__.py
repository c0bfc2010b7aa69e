"""Terms about balance: a quantity, a law over any quantity, a termination with a memory, and an event that draws."""

import attrs
from attrs.validators import ge, gt
from pippin.task import Event, EventConfig, Quantity, QuantityReward, QuantityRewardConfig, Termination


@attrs.frozen(kw_only=True)
class BodyConfig:
    """A term of one body."""

    body: str | None = None
    """Pattern of the body's name; by default the first body of a world."""


class Lean(Quantity):
    """The quantity `lean`: the horizontal components of the body's z axis, 0 upright."""

    Config = BodyConfig
    labels = ("x", "y")

    def __init__(self, config, context):
        super().__init__(config, context)
        self._bodies = context.root(config.body)

    def measure(self, state, out):
        """Write the two components of each world."""
        import warp as wp

        from .kernels import measure_lean

        wp.launch(measure_lean, len(out), [state.body_q, self._bodies, out], device=out.device)


@attrs.frozen(kw_only=True)
class PlateauConfig(QuantityRewardConfig):
    """A law that is flat near the target."""

    radius: float = attrs.field(validator=gt(0.0))
    """Distance from the target up to which the law is 1 [unit of the quantity]; it is 0 from twice this distance."""


class Plateau(QuantityReward):
    """The law `plateau`: 1 near the target, and a straight line down to 0."""

    Config = PlateauConfig

    def evaluate(self, out):
        """Write the law of each world."""
        import warp as wp

        from .kernels import plateau

        inputs = [self.values, self.columns, self.targets, self.target_columns, self.config.radius, out]
        wp.launch(plateau, len(out), inputs, device=out.device)


@attrs.frozen(kw_only=True)
class LyingConfig(BodyConfig):
    """The end of an episode if a body lies for some time."""

    height: float
    """Height of the body's origin below which it lies [m]."""

    patience: float = attrs.field(default=0.0, validator=ge(0.0))
    """Time for which a body may lie before the episode ends [s]."""


class Lying(Termination):
    """The termination `lying`: the body was below a height for longer than the patience."""

    Config = LyingConfig

    def __init__(self, config, context):
        super().__init__(config, context)
        import warp as wp

        self._bodies = context.root(config.body)
        self._steps = wp.zeros(context.world_count, dtype=int, device=context.device)
        self._allowed = round(config.patience / context.simulation.control_dt)

    def evaluate(self, out):
        """Count the steps of each world below the height."""
        import warp as wp

        from .kernels import count_lying

        state = self.context.simulation.state
        inputs = [state.body_q, self._bodies, self.config.height, self._allowed, self._steps, out]
        wp.launch(count_lying, len(out), inputs, device=out.device)

    def reset(self, world_mask):
        """Begin the counts of the masked worlds anew."""
        import warp as wp

        from .kernels import forget

        wp.launch(forget, len(self._steps), [world_mask, self._steps], device=world_mask.device)


@attrs.frozen(kw_only=True)
class SpinConfig(EventConfig):
    """A random rotation about the vertical, at the start of an episode or from time to time."""

    body: str | None = None
    """Pattern of the name of a free body; by default the first body of a world."""

    rate: float = attrs.field(validator=ge(0.0))
    """Largest angular velocity that is added [rad/s], to either side."""


class Spin(Event):
    """The event `spin`."""

    Config = SpinConfig
    moves_bodies = True

    def __init__(self, config, context):
        super().__init__(config, context)
        _, self._starts = context.free_joint(config.body)
        self._draws = context.draws()

    def apply(self, state, world_mask):
        """Add to the angular velocity in the masked worlds."""
        import warp as wp

        from .kernels import spin

        inputs = [world_mask, *self._draws.arguments, self._starts, self.config.rate, state.joint_qd]
        wp.launch(spin, self.context.world_count, inputs, device=world_mask.device)
        self._draws.advance(world_mask)
