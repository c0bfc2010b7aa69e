"""The implicit material point method, as a Pippin solver."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import attrs
import pippin
from attrs.validators import ge, in_, matches_re, or_
from pippin.solving import ContactSource, number
from pippin.validators import fraction, non_negative, positive

if TYPE_CHECKING:
    import newton

__all__ = ["ImplicitMPMConfig", "SolverImplicitMPM"]

RheologySolver = Literal[
    "auto",
    "gs",
    "gauss-seidel",
    "gs-soa",
    "gauss-seidel-soa",
    "gs-batched",
    "gauss-seidel-batched",
    "jacobi",
    "cg",
    "conjugate-gradient",
    "cr",
    "conjugate-residual",
    "gmres",
    "generalized-minimal-residual",
]

_BASIS = matches_re(r"pic\d*|[BQS]\d+d?|P0|P[1-9]\d*d")


def capacity() -> Any:
    """Return a field for a number of cells or nodes, -1 where it is not bounded."""
    return attrs.field(default=-1, validator=or_(in_([-1]), ge(1)))


@attrs.frozen(kw_only=True)
class ImplicitMPMConfig:
    """Sand, snow, mud and foam as particles that meet on a grid: implicit, so large steps; of stiff materials too."""

    max_iterations: int = number(250, ge(1))
    """Iterations of the rheology per substep."""

    tolerance: float = number(1e-4, positive)
    """Residual at which they stop."""

    solver: RheologySolver | tuple[RheologySolver, ...] = "auto"
    """Solver of the rheology, or several that start from each other's result; auto is gs, and gs-batched for B2, B3."""

    carry_residual_strain: Literal["none", "unconverged", "sampled"] = "none"
    """Strain that an iteration limit left over, and that particles keep."""

    warmstart_mode: Literal["none", "auto", "particles", "grid", "smoothed"] = "auto"
    """Where the stress that a substep starts from is kept."""

    collider_velocity_mode: Literal["forward", "backward"] = "forward"
    """A collider's velocity: the state's, or from its last position."""

    voxel_size: float = number(0.1, positive)
    """Edge of a grid cell [m]."""

    grid_type: Literal["sparse", "dense", "fixed"] = "sparse"
    """Cells where particles are, in their bounding box, or where they are at the start."""

    grid_padding: int = number(0, ge(0))
    """Empty cells around the particles."""

    max_active_cell_count: int = capacity()
    """Cells in use, of all worlds; a bounded sparse grid is rebuilt in place. -1 is no bound."""

    max_leaf_node_count: int = capacity()
    """Leaf nodes of that grid; -1 is one for each cell."""

    max_lower_node_count: int = capacity()
    """Lower inner nodes of that grid; -1 is as estimated."""

    max_upper_node_count: int = capacity()
    """Upper inner nodes of that grid; -1 is as estimated."""

    separate_worlds: bool = False
    """Whether each world has a grid of its own; otherwise particles of all worlds meet on one."""

    transfer_scheme: Literal["apic", "pic"] = "apic"
    """Whether particles keep the gradient of their velocity, or lose it."""

    integration_scheme: Literal["pic", "gimp"] = "pic"
    """Whether a particle is a point or a cube."""

    critical_fraction: float = number(0.0, fraction)
    """Part of a cell that particles must fill for the material to yield as one."""

    air_drag: float = number(1.0, non_negative)
    """Drag of the air around the material."""

    gs_colored_contacts: bool | None = None
    """Whether contacts of particles are solved with the cells around them; by default where that can be."""

    collider_normal_from_sdf_gradient: bool = False
    """Whether a collider's normal is the gradient of its distance, in place of the way to its closest point."""

    collider_basis: str = number("S2", _BASIS)
    """Basis of the colliders: Q1, S2, or particles (pic, picN with at most N in a cell)."""

    strain_basis: str = number("P0", _BASIS)
    """Basis of the strain: P0, P1d, Q1, Q1d, or particles (pic, picN)."""

    velocity_basis: Literal["Q1", "B2", "B3"] = "Q1"
    """Basis of the velocity."""

    verbose: bool | None = None
    """Whether the rheology prints its residuals; by default where Warp logs for debugging."""

    enable_timers: bool = False
    """Whether the parts of a step are timed, which synchronises with the device."""

    project_outside_colliders: bool = False
    """Whether particles inside a collider are moved out of it after each substep."""


class SolverImplicitMPM:
    """Newton's `SolverImplicitMPM`. Every shape that particles collide with is a collider; it finds contacts itself.

    Only particles move. Bodies are where the state has them, and do not feel the particles.
    """

    Config = ImplicitMPMConfig
    coordinates = "maximal"
    detects_contacts = True
    supported_features = frozenset({"heterogeneous_worlds", "particles"})
    supported_model_changes = frozenset({"MODEL_PROPERTIES"})
    supported_observables = frozenset[str]()
    unsaved_reason = "'implicit-mpm' lays its grid out anew in each substep, with what it keeps on it for the next one"

    def __init__(self, config: ImplicitMPMConfig) -> None:
        self.config = config
        self.eager_reason = _eager_reason(config)

    @property
    def is_capturable(self) -> bool:
        """On CUDA, with a grid that keeps its place."""
        return self.eager_reason is None

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register what particles have besides Newton's: stiffness, yield and friction, strain and stress."""
        import newton

        newton.solvers.SolverImplicitMPM.register_custom_attributes(builder)

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverImplicitMPM:
        """Return the solver with every option of the configuration.

        Raises:
            ConfigError: There are several worlds on one grid, no particles, or a grid that cannot be built.
        """
        import newton
        from warp import fem

        if not model.particle_count:
            raise pippin.ConfigError("type: 'implicit-mpm' moves particles, got 0; add some, or choose another solver")
        if model.world_count > 1 and not self.config.separate_worlds:
            raise pippin.ConfigError(
                f"separate_worlds: False, but there are {model.world_count} worlds, whose particles would meet on one"
                " grid; set separate_worlds = true"
            )
        if not model.device.is_cuda:
            self.eager_reason = "on the CPU, a graph of it does not replay what was recorded"
        options = attrs.asdict(self.config)
        del options["project_outside_colliders"]
        timing = {name: options.pop(name) for name in ("verbose", "enable_timers")}
        solver = newton.solvers.SolverImplicitMPM
        try:
            return solver(model, solver.Config(**options), temporary_store=fem.TemporaryStore(), **timing)
        except RuntimeError as error:
            raise pippin.ConfigError(f"grid_type: {self.config.grid_type!r} cannot be built: {error}") from error

    @pippin.hookimpl
    def initialize_contacts(self) -> ContactSource:
        """Return no contacts: colliders are on the grid."""
        return ContactSource()

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Keep the names of what a state has before the solver adds to it."""
        self._names = frozenset(vars(simulation.state))

    @pippin.hookimpl
    def step_solver(
        self,
        solver: newton.solvers.SolverImplicitMPM,
        state_in: newton.State,
        state_out: newton.State,
        control: newton.Control,
        dt: float,
    ) -> None:
        """Move the particles, keep them outside of colliders where that is asked for, and leave bodies alone."""
        import warp as wp

        solver.step(state_in, state_out, control, None, dt)  # pyright: ignore[reportArgumentType] it takes no contacts
        if self.config.project_outside_colliders:
            solver.project_outside(state_out, state_out, dt)
        if state_in.body_q is not None and state_out.body_q is not None:
            wp.copy(state_out.body_q, state_in.body_q)
        if state_in.body_qd is not None and state_out.body_qd is not None:
            wp.copy(state_out.body_qd, state_in.body_qd)
        # The solver leaves its fields on the state it writes to; the two states have to be alike.
        for name in vars(state_out).keys() - self._names:
            setattr(state_in, name, getattr(state_out, name))

    @pippin.hookimpl
    def after_step(self, simulation: pippin.Simulation) -> None:
        """Raise where a bounded grid was too small. Synchronises with the device, where there is such a grid.

        Raises:
            SimulationError: Names the fields to raise.
        """
        if self.config.max_active_cell_count < 0:
            return
        try:
            simulation.solver.check_sparse_grid_rebuild_status()  # pyright: ignore[reportAttributeAccessIssue]
        except RuntimeError as error:
            raise pippin.SimulationError(f"solver: step {simulation.step_count}: {error}") from error


def _eager_reason(config: ImplicitMPMConfig) -> str | None:
    """Return why a step cannot be recorded wherever it runs, or None."""
    bases = (config.strain_basis, config.collider_basis)
    if config.enable_timers:
        return "enable_timers synchronises with the device"
    if config.grid_type == "dense" or config.max_active_cell_count < 0:
        return "its grid is allocated in each substep; set max_active_cell_count, and a sparse or fixed grid"
    if "pic" in bases:
        return "a basis of particles must be bounded, as in 'pic8'"
    if config.grid_type == "sparse" and not _is_rebuilt_in_place(config):
        return "this sparse grid is allocated in each substep; it needs no padding and simpler bases"
    return None


def _is_rebuilt_in_place(config: ImplicitMPMConfig) -> bool:
    strain = re.fullmatch(r"pic\d+|P0|P1d|Q1d?", config.strain_basis)
    collider = re.fullmatch(r"pic\d+|Q1|S2|S3", config.collider_basis)
    return config.grid_padding == 0 and strain is not None and collider is not None
