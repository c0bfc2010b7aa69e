"""Events that change actuator groups: their gains, and constant offsets of their targets."""

from __future__ import annotations

import newton
import warp as wp
from pippin import ConfigError, did_you_mean
from pippin.task import TermContext

from .config import GainsConfig, JointOffsetsConfig
from .kernels.model import vary_parameters
from .variation import RandomEvent, Variation


class Gains(RandomEvent):
    """The event `gains`."""

    def __init__(self, config: GainsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._group = context.actuator(config.actuator)
        self._refuse_unknown()
        context.claim(config.gain, [config.actuator], "gain")
        self.model_changes = frozenset(self._group.gain_changes)
        self._built = wp.clone(self._memory())
        self._variation = Variation(config)
        built = self._built.numpy()
        self._variation.refuse_below_zero(built, config.gain, above=bool(built.any()))

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the gain in the masked worlds."""
        values = self._memory()
        self._draw(vary_parameters, values.shape, world_mask, *self._variation.arguments, self._built, values)
        self._group.write_gains()

    def _memory(self) -> wp.array:
        return self._group.gain(self.config.gain)

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


class JointOffsets(RandomEvent):
    """The event `joint-offsets`."""

    def __init__(self, config: JointOffsetsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        errors = getattr(context.action(config.action, "action"), "errors", None)
        if errors is None:
            raise ConfigError(f"action: {config.action!r} has no targets that may be off; choose another")
        self._errors: wp.array = errors
        context.claim("offset", [config.action], "action")

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the offsets in the masked worlds."""
        inputs = [wp.vec2(0.0, 0.0), wp.vec2(*self.config.range), 1, self._errors, self._errors]
        self._draw(vary_parameters, self._errors.shape, world_mask, *inputs)
