"""Events that change actuator groups: their gains, and constant offsets of their targets."""

from __future__ import annotations

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, did_you_mean
from pippin.arrays import on_host

from pippin_task import TermContext

from .configs import GainsConfig, JointOffsetsConfig
from .variation import ModelEvent, Variation, variation_ranges


class Gains(ModelEvent):
    """The event `gains`."""

    def __init__(self, config: GainsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._group = context.actuator(config.actuator)
        self._refuse_unknown()
        context.claim(config.gain, [config.actuator], "gain")
        self.model_changes = frozenset(self._group.gain_changes)
        variation, values = Variation(config), self._group.gain(config.gain)
        built = on_host(values)
        variation.refuse_below_zero(built, config.gain, above=bool(built.any()))
        self.ranges, indices = variation.arguments, np.indices(built.shape)
        self._vary(values, indices, *indices)

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the gain in the masked worlds."""
        super().apply(state, world_mask)
        self._group.write_gains()

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """Put the built gain of the masked worlds back."""
        super().restore(world_mask)
        self._group.write_gains()

    def _refuse_unknown(self) -> None:
        group, config = self._group, self.config
        gains = tuple(getattr(group, "gains", ()))
        if config.gain not in gains:
            hint = did_you_mean(config.gain, gains)
            known = ", ".join(gains) or "none"
            raise ConfigError(f"gain: {config.actuator!r} has no gain {config.gain!r}{hint}; gains: {known}")
        if config.gain in group.drawn_parameters:
            raise ConfigError(
                f"gain: the group {config.actuator!r} draws {config.gain!r} itself at a reset; give it one value there,"
                " or leave the event out"
            )


class JointOffsets(ModelEvent):
    """The event `joint-offsets`."""

    def __init__(self, config: JointOffsetsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        errors = getattr(context.action(config.action, "action"), "errors", None)
        if errors is None:
            raise ConfigError(f"action: {config.action!r} has no targets that may be off; choose another")
        context.claim("offset", [config.action], "action")
        none, indices = (0.0, 0.0), np.indices(errors.shape)
        self.ranges = [variation_ranges(none, config.range, stride=1)], [variation_ranges(none)]
        self._vary(errors, indices, *indices)
