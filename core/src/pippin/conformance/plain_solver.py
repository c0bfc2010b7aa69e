"""Solver of the simulations that test actuators and sensors: part of the kit, so that no plugin is needed."""

from __future__ import annotations

import newton
import pippin
from pippin.support.features import RIGID_TREES


class PlainSolver:
    """Component that builds Newton's XPBD."""

    coordinates = "maximal"
    supported_features = RIGID_TREES
    supported_observables = newton.solvers.SolverXPBD.SUPPORTED_OBSERVABLES

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverXPBD:
        """Return the solver of a model."""
        return newton.solvers.SolverXPBD(model, iterations=4)
