"""Events that push and turn bodies by forces, over an episode or in blows."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp

from pippin_task import TermContext

from .configs import WrenchConfig
from .kernels.wrenches import add_wrenches, clear_wrenches, draw_wrenches
from .variation import RandomEvent, refuse_kinematic

_FOR_EVER = float(np.finfo(np.float32).max)


class Wrench(RandomEvent):
    """The event `wrench`."""

    def __init__(self, config: WrenchConfig, context: TermContext) -> None:
        super().__init__(config, context)
        _, self._bodies = context.bodies(config.bodies)
        refuse_kinematic(context, "bodies", self._bodies, "so no force moves it")
        centres: Any = context.simulation.model.body_com
        self._points = centres
        if config.offset is not None:
            self._points = wp.full(centres.shape, wp.vec3(*config.offset), wp.vec3, device=context.device)
        shape: Any = self._bodies.shape
        #: Force and torque at the height of a blow [N, N·m], shape [worlds, bodies].
        self.wrenches: Any = wp.zeros(shape, dtype=wp.spatial_vectorf, device=context.device)
        #: Length of the blow, and the time since it began [s], shape [worlds, bodies].
        self.durations, self.elapsed = (wp.zeros(shape, dtype=float, device=context.device) for _ in range(2))

    def apply(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Draw forces, torques and lengths of blows in the masked worlds."""
        config = self.config
        ends = [
            wp.spatial_vector(*force, *torque)
            for force, torque in zip(config.force.ends, config.torque.ends, strict=True)
        ]
        duration = wp.vec2(*(config.duration or (_FOR_EVER, _FOR_EVER)))
        inputs = [*ends, duration, self.wrenches, self.durations, self.elapsed]
        self._draw(draw_wrenches, self._bodies.shape, world_mask, *inputs)

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """End the blows in the masked worlds."""
        wp.launch(clear_wrenches, self._bodies.shape, [world_mask, self.wrenches], device=world_mask.device)

    def add_forces(self, state: newton.State, dt: float) -> None:
        """Add the mean wrench of the substep."""
        inputs = [self._bodies, self._points, self.context.simulation.model.body_com, state.body_q, self.wrenches]
        inputs += [self.durations, int(self.config.form == "half-sine"), dt, self.elapsed, state.body_f]
        wp.launch(add_wrenches, self._bodies.shape, inputs, device=self._bodies.device)
