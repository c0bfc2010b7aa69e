"""Terms about balance: a quantity, a law over any quantity, a termination with a memory, and an event that draws."""

import warp as wp
from pippin_task import Event, Quantity, QuantityReward, Termination

from .kernels import count_lying, forget, measure_lean, plateau, spin


class Lean(Quantity):
    """The quantity `lean`: the horizontal components of the body's z axis, 0 upright."""

    labels = ("x", "y")

    def __init__(self, config, context):
        super().__init__(config, context)
        self._bodies = context.root(config.body)

    def measure(self, state, out):
        """Write the two components of each world."""
        wp.launch(measure_lean, len(out), [state.body_q, self._bodies, out], device=out.device)


class Plateau(QuantityReward):
    """The law `plateau`: 1 near the target, and a straight line down to 0."""

    def evaluate(self, out):
        """Write the law of each world."""
        inputs = [self.values, self.columns, self.targets, self.target_columns, self.config.radius, out]
        wp.launch(plateau, len(out), inputs, device=out.device)


class Lying(Termination):
    """The termination `lying`: the body was below a height for longer than the patience."""

    def __init__(self, config, context):
        super().__init__(config, context)
        self._bodies = context.root(config.body)
        self._steps = wp.zeros(context.world_count, dtype=int, device=context.device)
        self._allowed = round(config.patience / context.simulation.control_dt)

    def evaluate(self, out):
        """Count the steps of each world below the height."""
        state = self.context.simulation.state
        inputs = [state.body_q, self._bodies, self.config.height, self._allowed, self._steps, out]
        wp.launch(count_lying, len(out), inputs, device=out.device)

    def reset(self, world_mask):
        """Begin the counts of the masked worlds anew."""
        wp.launch(forget, len(self._steps), [world_mask, self._steps], device=world_mask.device)


class Spin(Event):
    """The event `spin`."""

    moves_bodies = True

    def __init__(self, config, context):
        super().__init__(config, context)
        _, self._starts = context.free_joint(config.body)
        self._draws = context.draws()

    def apply(self, state, world_mask):
        """Add to the angular velocity in the masked worlds."""
        inputs = [world_mask, *self._draws.arguments, self._starts, self.config.rate, state.joint_qd]
        wp.launch(spin, self.context.world_count, inputs, device=world_mask.device)
        self._draws.advance(world_mask)
