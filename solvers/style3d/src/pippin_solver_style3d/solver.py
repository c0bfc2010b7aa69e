"""Style3D: a solver for Pippin."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping

import attrs
import newton
import pippin
import warp as wp

from . import Style3DConfig
from .plain_cloth import fill_in

__all__ = ["SolverStyle3D"]


class SolverStyle3D:
    """Newton's `SolverStyle3D`, over contacts from Newton's pipeline. Only cloth moves; bodies keep
    the poses of the state.

    The solver keeps 0.998 of every velocity from substep to substep, for any length of the substep. Cloth with other
    stiffness along the threads than across them comes from `newton.solvers.style3d`, in a prototype built in Python.
    Any other cloth is the same in all directions, with the `tri_ke`, `tri_ka` and `edge_ke` of its triangles and edges.
    """

    coordinates = "maximal"
    supported_features: Mapping[str, str] = {
        "bending": "build",
        "face_contacts": "live",
        "gravity": "live",
        "particles": "build",
        "soft_contact_friction": "live",
        "soft_contact_stiffness": "live",
        "triangles": "build",
    }
    supported_observables = frozenset[str]()

    def __init__(self, config: Style3DConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register additional attributes of cloth: stiffness by direction, and measured bending."""
        newton.solvers.SolverStyle3D.register_custom_attributes(builder)

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverStyle3D:
        """Return the solver with all options of the configuration.

        Raises:
            ConfigError: There is no cloth, or an edge that resists bending lies between no two triangles.
        """
        if not (model.tri_count or model.edge_count):
            raise pippin.ConfigError("type: 'style3d' moves cloth, and there is none; add a cloth, or choose 'vbd'")
        fill_in(model)
        solver = newton.solvers.SolverStyle3D
        with contextlib.redirect_stdout(io.StringIO()):  # it prints how long it took
            return solver(model, config=solver.Config(**attrs.asdict(self.config)))

    @pippin.hookimpl
    def step_solver(
        self,
        solver: newton.solvers.SolverStyle3D,
        state_in: newton.State,
        state_out: newton.State,
        control: newton.Control,
        contacts: newton.Contacts,
        dt: float,
    ) -> None:
        """Move the cloth; bodies keep their poses. May be recorded."""
        solver.step(state_in, state_out, control, contacts, dt)
        if state_in.body_q is not None and state_out.body_q is not None:
            wp.copy(state_out.body_q, state_in.body_q)
