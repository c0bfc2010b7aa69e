"""Events that change actuator groups: their gains, and constant errors of their targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean
from pippin.task.ranges import Range, ordered
from pippin.task.terms import Event, EventConfig

from .model import Variation, VariedConfig

if TYPE_CHECKING:
    import newton
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["Gains", "JointOffsets"]


@attrs.frozen(kw_only=True)
class GainsConfig(VariedConfig):
    """Random gains of an actuator group, around those of the file."""

    actuator: str
    """Label of the group."""

    gain: str
    """Name of the gain, such as `kp` or `kd`: a parameter of the group, of at least 0."""


class Gains(Event):
    """The event `gains`."""

    Config: ClassVar[type] = GainsConfig

    def __init__(self, config: GainsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        import warp as wp

        self._group = context.actuator(config.actuator)
        self._refuse_unknown()
        context.claim(config.gain, [config.actuator], "gain")
        self.model_changes = frozenset(self._group.gain_changes)
        self._built: Any = wp.clone(self._memory())
        self._variation = Variation(config)
        built = self._built.numpy()
        self._variation.refuse_below_zero(built, config.gain, above=bool(built.any()))
        self.draws = context.draws()

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the gain in the masked worlds."""
        import warp as wp

        from .kernels.model import vary_parameters

        values = self._memory()
        inputs = [world_mask, *self.draws.arguments, *self._variation.arguments, self._built, values]
        wp.launch(vary_parameters, values.shape, inputs, device=world_mask.device)
        self._group.write_gains()
        self.draws.advance(world_mask)

    def _memory(self) -> Any:
        return self._group.gain(self.config.gain)

    def _refuse_unknown(self) -> None:
        group, config = self._group, self.config
        gains = tuple(getattr(group, "gains", ()))
        if config.gain not in gains:
            hint = did_you_mean(config.gain, gains)
            raise ConfigError(
                f"gain: {config.gain!r} is no gain of {config.actuator!r}{hint}; gains: {', '.join(gains) or 'none'}"
            )
        if config.gain in group.drawn_parameters:
            raise ConfigError(
                f"gain: the group {config.actuator!r} draws {config.gain!r} itself at a reset; give it one value there,"
                " or leave the event out"
            )


@attrs.frozen(kw_only=True)
class JointOffsetsConfig(EventConfig):
    """A constant offset of each joint target, as from a miscalibrated encoder."""

    action: str
    """Label of the action."""

    range: Range = attrs.field(validator=ordered)
    """Range of the error, in the unit of the targets."""


class JointOffsets(Event):
    """The event `joint-offsets`."""

    Config: ClassVar[type] = JointOffsetsConfig

    def __init__(self, config: JointOffsetsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._errors: Any = getattr(context.action(config.action, "action"), "errors", None)
        if self._errors is None:
            raise ConfigError(f"action: {config.action!r} has no targets that may be off; choose another")
        context.claim("offset", [config.action], "action")
        self.draws = context.draws()

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw the errors in the masked worlds."""
        import warp as wp

        from .kernels.model import draw_errors

        inputs = [world_mask, *self.draws.arguments, wp.vec2(*self.config.range), self._errors]
        wp.launch(draw_errors, self._errors.shape, inputs, device=world_mask.device)
        self.draws.advance(world_mask)
