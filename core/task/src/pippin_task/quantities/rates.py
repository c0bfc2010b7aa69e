"""Rates: what changed over a control step, divided by its length."""

from __future__ import annotations

import abc
from typing import Any

import newton
import warp as wp

from pippin_task import Quantity, TermContext

from .kernels import begin_rates, take_rates


class Rate(Quantity):
    """A quantity (x − x before) / control_dt, with x of the end of the control step and of the one before.

    In the first step of an episode, the one before is the start of the episode; right after a reset the rate is zero.
    """

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        shape: Any = (context.world_count, len(self.labels))
        self._present, self._before, self._latest = (
            wp.zeros(shape, dtype=float, device=context.device) for _ in range(3)
        )
        # Number of the control step that `latest` belongs to.
        self._steps: Any = wp.full(shape, -1, dtype=wp.int64, device=context.device)

    @abc.abstractmethod
    def read(self, state: newton.State, out: wp.array) -> None:
        """Write x of all worlds."""

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the rate."""
        host = self.context.simulation
        self.read(state, self._present)
        inputs = [self._present, host.step_counter, host.control_dt, self._steps, self._before, self._latest, out]
        wp.launch(take_rates, out.shape, inputs, device=out.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Begin with the present state of the masked worlds."""
        host = self.context.simulation
        self.read(host.state, self._present)
        inputs = [world_mask, self._present, host.step_counter, self._steps, self._before, self._latest]
        wp.launch(begin_rates, self._present.shape, inputs, device=self._present.device)
