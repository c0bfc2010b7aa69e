"""Terminations: by contact, by the range of a quantity, by the edge of the terrain, and by the end of a motion."""

from __future__ import annotations

import warp as wp
from pippin import ConfigError
from pippin.validators import range_ends

from pippin_task import TermContext, Termination

from .configs import ContactTerminationConfig, MotionEndConfig, OutOfBoundsConfig, RangeTerminationConfig
from .kernels import is_at_last, is_beyond, is_outside, is_touching


class ContactTermination(Termination):
    """The termination `contact`: the net force on any body of a sensor is above a threshold, or not a number."""

    def __init__(self, config: ContactTerminationConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.contact_forces(config.sensor, with_history=config.history, by_partner=config.partners)

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the forces with the threshold."""
        wp.launch(is_touching, len(out), [self._forces, self.config.threshold, out], device=out.device)


class RangeTermination(Termination):
    """The termination `outside`: any number is below `low`, above `high`, or not a number."""

    def __init__(self, config: RangeTerminationConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._quantity = context.quantity(config.of)
        self._columns = context.ints(self._quantity.chosen_columns(config.axes))

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the numbers with the range."""
        inputs = [self._quantity.values, self._columns, *range_ends(self.config.low, self.config.high), out]
        wp.launch(is_outside, len(out), inputs, device=out.device)


class OutOfBounds(Termination):
    """The termination `out-of-bounds`: |x| or |y| of a body is above half of the terrain's length minus the margin."""

    def __init__(self, config: OutOfBoundsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        half = [length / 2.0 - config.margin for length in context.places().extent]
        if min(half) <= 0.0:
            raise ConfigError(f"margin: {config.margin:g} m leave nothing of the patches; make it smaller")
        self._bodies, self._half = context.root(config.body), wp.vec2(*half)

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the positions with the edge."""
        inputs = [self.context.simulation.state.body_q, self._bodies, self._half, out]
        wp.launch(is_beyond, len(out), inputs, device=out.device)


class MotionEnd(Termination):
    """The termination `motion-end`: the last frame of the clip of a command was to be reached."""

    def __init__(self, config: MotionEndConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._command = context.command(config.command, "command")
        clip = getattr(self._command, "clip", None)
        if clip is None or clip.is_loop:
            fault = "follows no motion" if clip is None else "follows a loop, which has no end"
            raise ConfigError(f"command: {config.command!r} {fault}; choose another one, or leave this end out")

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the frames with the last one."""
        inputs = [self._command.frames, self._command.clip.frame_count - 1, out]
        wp.launch(is_at_last, len(out), inputs, device=out.device)
