"""Style3D: a solver for Pippin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pippin
from attrs.validators import ge
from pippin.solving import number
from pippin.validators import non_negative

if TYPE_CHECKING:
    import newton

__all__ = ["SolverStyle3D", "Style3DConfig"]


@attrs.frozen(kw_only=True)
class Style3DConfig:
    """Projective dynamics of woven cloth, with different stiffness along and across its threads, and in bending."""

    iterations: int = number(10, ge(1))
    """Iterations per substep."""

    linear_iterations: int = number(10, ge(1))
    """Iterations of the linear solver per iteration."""

    drag_spring_stiff: float = number(1e2, non_negative)
    """Stiffness of the spring by which a mouse drags cloth [N/m]."""

    enable_mouse_dragging: bool = False
    """Whether a mouse can drag cloth."""


class SolverStyle3D:
    """Newton's `SolverStyle3D`, over contacts from Newton's pipeline. Only cloth moves; bodies keep
    the poses of the state.

    The solver keeps 0.998 of every velocity from substep to substep, for any length of the substep. Add cloth with
    `newton.solvers.style3d`, to a prototype built in Python.
    """

    Config = Style3DConfig
    coordinates = "maximal"
    supported_features = frozenset({"bending", "particles", "triangles"})
    supported_model_changes = frozenset({"MODEL_PROPERTIES"})
    supported_observables = frozenset[str]()

    def __init__(self, config: Style3DConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register additional attributes of cloth: stiffness by direction, and measured bending."""
        import newton

        newton.solvers.SolverStyle3D.register_custom_attributes(builder)

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverStyle3D:
        """Return the solver with all options of the configuration."""
        import newton

        solver = newton.solvers.SolverStyle3D
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
        import warp as wp

        solver.step(state_in, state_out, control, contacts, dt)
        if state_in.body_q is not None and state_out.body_q is not None:
            wp.copy(state_out.body_q, state_in.body_q)
