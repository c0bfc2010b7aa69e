"""Inverse weights of bodies that only slide, in MuJoCo Warp's model of all worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import warp as wp

from .kernels import weigh_sliders

__all__ = ["Sliders"]


class Sliders:
    """The sliding bodies of a solver, which MuJoCo weighs by their mass alone.

    Args:
        solver: The solver, just built.
        bodies: The bodies, by MuJoCo's indices.
    """

    def __init__(self, solver: newton.solvers.SolverMuJoCo, bodies: Sequence[int]) -> None:
        own: Any = solver
        device = solver.model.device
        dofs = [dof for dof, body in enumerate(own.mj_model.dof_bodyid) if body in bodies]
        self._count = max(len(bodies), len(dofs))
        self._bodies, self._dofs = (wp.array(each, dtype=int, device=device) for each in (list(bodies), dofs))
        self._body_of_dof = wp.array(own.mj_model.dof_bodyid, dtype=int, device=device)
        self.weigh(own)

    def weigh(self, solver: newton.solvers.SolverMuJoCo) -> None:
        """Write the inverse weights of all worlds; call it after changes of masses. May be recorded."""
        model: Any = solver.mjw_model
        if self._count:
            wp.launch(
                weigh_sliders,
                dim=(len(model.body_invweight0), self._count),
                inputs=[self._bodies, self._dofs, self._body_of_dof, model.body_mass],
                outputs=[model.body_invweight0, model.dof_invweight0],
                device=solver.model.device,
            )
