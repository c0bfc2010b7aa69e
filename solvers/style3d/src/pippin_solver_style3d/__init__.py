"""Style3D, as a Pippin solver."""

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
    """Projective dynamics of woven cloth, which resists stretch along its threads, and bending, differently."""

    iterations: int = number(10, ge(1))
    """Iterations per substep."""

    linear_iterations: int = number(10, ge(1))
    """Iterations of the linear solver in each of them."""

    drag_spring_stiff: float = number(1e2, non_negative)
    """Stiffness of the spring that a mouse drags cloth with [N/m]."""

    enable_mouse_dragging: bool = False
    """Whether it does."""


class SolverStyle3D:
    """Newton's `SolverStyle3D`, over contacts from Newton's pipeline. Only cloth moves; bodies are put, not moved.

    It keeps 0.998 of every velocity from substep to substep, whatever their length. The cloth is added by
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
        """Register what cloth has besides Newton's: stiffness by direction, and bending as it is measured."""
        import newton

        newton.solvers.SolverStyle3D.register_custom_attributes(builder)

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverStyle3D:
        """Return the solver with every option of the configuration.

        Raises:
            ConfigError: There are several worlds, whose cloths the solver would let collide with each other.
        """
        import newton

        if model.world_count > 1:
            raise pippin.ConfigError(
                f"type: 'style3d' lets the cloths of all worlds collide, got {model.world_count} worlds;"
                " set scene.worlds = 1, or choose another solver"
            )
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
        """Move the cloth, and leave bodies where the state has them. May be recorded."""
        import warp as wp

        solver.step(state_in, state_out, control, contacts, dt)
        if state_in.body_q is not None and state_out.body_q is not None:
            wp.copy(state_out.body_q, state_in.body_q)
