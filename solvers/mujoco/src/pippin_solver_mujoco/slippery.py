"""Contacts with next to no sliding friction, for which MuJoCo Warp's pyramids would give NaN."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp
from mujoco import mjtCone

from .kernels import find_most_friction, write_sliding_dimensions

__all__ = ["LEAST_FRICTION", "Slippery"]

LEAST_FRICTION = 2e-3
"""Sliding friction below which pyramids give NaN in single precision, in some contacts that resist rolling, too."""


class Slippery:
    """Dimensions of contacts, which are those of a world without friction where no world has some.

    MuJoCo Warp has one dimension for all worlds. Where another world has friction, or a contact resists turning, too,
    less than the least friction that is solved counts as this one.

    Args:
        solver: Newton's solver, whose contacts have the dimensions that the model states.
    """

    def __init__(self, solver: newton.solvers.SolverMuJoCo) -> None:
        own: Any = solver
        model, device = own.mjw_model, own.model.device
        is_pyramidal = own.mj_model.opt.cone == int(mjtCone.mjCONE_PYRAMIDAL)
        of_geoms = (model.geom_condim, model.geom_friction, 1)
        of_pairs = (model.pair_dim, model.pair_friction, 2)  # which slide in two directions
        parts = [part for part in (of_geoms, of_pairs) if part[0].shape[0] and is_pyramidal]
        self._parts = [
            (*part, wp.clone(part[0]), wp.zeros(part[0].shape, dtype=float, device=device)) for part in parts
        ]
        self._device = device
        self.write(solver)

    def write(self, solver: newton.solvers.SolverMuJoCo) -> None:
        """Write dimensions and friction again, after the solver has taken over changes of the model."""
        for dimensions, friction, count, stated, most in self._parts:
            most.zero_()
            wp.launch(
                find_most_friction, dim=friction.shape, inputs=[friction, count], outputs=[most], device=self._device
            )
            wp.launch(
                write_sliding_dimensions,
                dim=friction.shape,
                inputs=[stated, most, count, LEAST_FRICTION],
                outputs=[dimensions, friction],
                device=self._device,
            )
