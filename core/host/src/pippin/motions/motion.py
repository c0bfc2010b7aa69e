"""The base class of motions: the time of each world, and what follows the values at that time."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from typing import Any

import newton
import warp as wp
from pippin.binding import Binding
from pippin.errors import ConfigError
from pippin.hookspecs import hookimpl

from .kernels import ROUNDING, write_times
from .movers import MOVERS, Mover


class Motion(abc.ABC):
    """A function of time, which bodies, particles, joints, targets or forces follow. A plugin adds `build` and
    `evaluate`.

    The time of a world begins at its reset. What moves is where the function says after each substep, with the velocity
    that belongs to it; forces and targets have the values at the start of the substep and of the control step.

    Args:
        config: The table of the motion, a `MotionConfig`.
    """

    values: wp.array
    """Values at `times` [m, rad, N, N·m], shape [worlds, components]; `evaluate` writes them."""

    rates: wp.array
    """Their changes per second, of the same shape; those of a pose are linear and angular velocity in the world."""

    times: wp.array
    """Time since the motion began in each world [s], float64, shape [worlds]; it ends with the motion."""

    cycle: float = 0.0
    """Time after which the motion begins again [s]; zero if it does not."""

    lead: float = 0.0
    """Time of the first value, to which goals go from where they are at the start [s]; zero if they jump to it."""

    def __init__(self, config: Any) -> None:
        self.config = config
        #: For the core: hooks that this motion leaves out, since what it moves does not need them.
        self.unused_hooks: tuple[str, ...] = MOVERS[config.subject].unused_hooks

    @abc.abstractmethod
    def build(self, binding: Binding, element_count: int) -> int:
        """Prepare the function, and return the number of components of its values.

        Args:
            binding: The motion's place in the simulation.
            element_count: Largest number of bodies, particles, joints or axes in a world: one component for each is
                permitted where a value is a number.
        """

    @abc.abstractmethod
    def evaluate(self) -> None:
        """Write `values` and `rates` at `times`. May be recorded."""

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return the number of evaluations since the reset of each world, shape [worlds]; its time follows from it."""
        return {"counts": self.counts}

    @hookimpl
    def bind(self, binding: Binding) -> None:
        """Find what moves, and allocate the values.

        Raises:
            ConfigError: It is not there, something else moves it, or the values have another number of components.
        """
        host = binding.simulation
        if host.config.simulation.requires_grad:
            raise ConfigError(f"{self.config.subject}: a motion has no derivatives; leave simulation.requires_grad out")
        mover = MOVERS[self.config.subject](self.config, binding)
        width = self.build(binding, mover.element_count)
        shape, device = (host.world_count, width), host.device
        self.values, self.rates = (wp.zeros(shape, dtype=float, device=device) for _ in range(2))
        self.times = wp.zeros(shape[0], dtype=wp.float64, device=device)
        #: For the core: 1 while the motion lasts, else 0, shape [worlds].
        self.active = wp.zeros(shape[0], dtype=float, device=device)
        #: For the core: number of evaluations since the reset of each world, shape [worlds].
        self.counts = wp.zeros(shape[0], dtype=wp.int64, device=device)
        mover.follow(self)
        mover.refuse_moved(host.motions)
        #: For the core: what follows the values.
        self.mover: Mover = mover

    @hookimpl
    def start_step(self, state: newton.State, dt: float) -> None:
        """Write targets."""
        self._move(state, dt, ahead=0)

    @hookimpl
    def before_substep(self, state: newton.State, dt: float) -> None:
        """Add forces."""
        self._move(state, dt, ahead=0)

    @hookimpl
    def after_substep(self, state: newton.State, dt: float) -> None:
        """Put what moves, which the solver has left alone, where it is at the end of the substep."""
        self._move(state, dt, ahead=1)

    def _move(self, state: newton.State, dt: float, ahead: int) -> None:
        config, device = self.config, self.times.device
        span = math.inf if config.end is None else config.end - config.start
        # What acts during the step that follows acts no more at the end; what is placed is there, and moves.
        last = span - ROUNDING if config.subject in ("actuator", "force_on") else span + ROUNDING
        inputs = [dt, ahead, config.start, span, last, self.cycle, self.counts, self.times, self.active]
        wp.launch(write_times, len(self.times), inputs, device=device)
        self.evaluate()
        self.mover.move(state)
