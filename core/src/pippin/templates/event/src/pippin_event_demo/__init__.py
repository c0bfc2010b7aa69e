"""A random spin at the beginning of each episode, as a term of Pippin's tasks. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import ge
from pippin.task import Event, EventConfig


@attrs.frozen(kw_only=True)
class SpinConfig(EventConfig):
    """A random rotation about the vertical."""

    rate: float = attrs.field(validator=ge(0.0))
    """Largest angular velocity that is added [rad/s], to either side."""

    body: str | None = None
    """Pattern of the name of a free body; by default the first body of a world."""


class EventDemo(Event):
    """The event `demo`."""

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
