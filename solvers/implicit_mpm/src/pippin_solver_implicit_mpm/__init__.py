"""The implicit material point method: a solver for Pippin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

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
    """Return a field for a number of cells or nodes, -1 if it is not bounded."""
    return attrs.field(default=-1, validator=or_(in_([-1]), ge(1)))


@attrs.frozen(kw_only=True)
class ImplicitMPMConfig:
    """Sand, snow, mud and foam as particles coupled by a grid; implicit, for large steps and stiff materials."""

    max_iterations: int = number(250, ge(1))
    """Iterations of the rheology per substep."""

    tolerance: float = number(1e-4, positive)
    """Residual at which the rheology's iterations stop."""

    solver: RheologySolver | tuple[RheologySolver, ...] = "auto"
    """Solver of the rheology, or several, each starting from the last result; auto is gs, or gs-batched for B2, B3."""

    carry_residual_strain: Literal["none", "unconverged", "sampled"] = "none"
    """Residual strain, such as that of an unconverged solve, that particles keep."""

    warmstart_mode: Literal["none", "auto", "particles", "grid", "smoothed"] = "auto"
    """Storage of the stress from which a substep starts."""

    collider_velocity_mode: Literal["forward", "backward"] = "forward"
    """Velocity of a collider: from the state, or from its last position."""

    voxel_size: float = number(0.1, positive)
    """Edge of a grid cell [m]."""

    grid_type: Literal["sparse", "dense", "fixed"] = "sparse"
    """Active cells: those with particles, their bounding box, or those with particles at the start."""

    grid_padding: int = number(0, ge(0))
    """Empty cells around the particles."""

    max_active_cell_count: int = capacity()
    """Cells in use, in all worlds together; a bounded sparse grid is rebuilt in place. -1 is no bound."""

    max_leaf_node_count: int = capacity()
    """Leaf nodes of a bounded sparse grid; -1 is one for each cell."""

    max_lower_node_count: int = capacity()
    """Lower inner nodes of a bounded sparse grid; -1 is an estimate."""

    max_upper_node_count: int = capacity()
    """Upper inner nodes of a bounded sparse grid; -1 is an estimate."""

    separate_worlds: bool = False
    """Whether each world has its own grid; otherwise particles of all worlds interact on one grid."""

    transfer_scheme: Literal["apic", "pic"] = "apic"
    """Transfer between particles and grid: apic keeps the velocity gradient of particles, pic loses it."""

    integration_scheme: Literal["pic", "gimp"] = "pic"
    """Shape of a particle: a point (pic) or a cube (gimp)."""

    critical_fraction: float = number(0.0, fraction)
    """Fraction of a cell that particles must fill; below it, the yield surface collapses."""

    air_drag: float = number(1.0, non_negative)
    """Drag of the air around the material."""

    gs_colored_contacts: bool | None = None
    """Whether contacts of particles are solved together with the cells around them; by default if possible."""

    collider_normal_from_sdf_gradient: bool = False
    """Whether a collider's normal is the gradient of its distance, in place of the direction to its closest point."""

    collider_basis: str = number("S2", _BASIS)
    """Basis of the colliders: Q1, S2, or particles (pic, or picN with at most N per cell)."""

    strain_basis: str = number("P0", _BASIS)
    """Basis of the strain: P0, P1d, Q1, Q1d, or particles (pic, picN)."""

    velocity_basis: Literal["Q1", "B2", "B3"] = "Q1"
    """Basis of the velocity."""

    verbose: bool | None = None
    """Whether the rheology prints its residuals; by default if Warp's log level is debug."""

    enable_timers: bool = False
    """Whether the parts of a step are timed, which synchronises with the device."""

    project_outside_colliders: bool = False
    """Whether particles inside a collider are moved out after each substep."""


class SolverImplicitMPM:
    """Newton's `SolverImplicitMPM`. All shapes that collide with particles are colliders; the solver detects
    contacts itself.

    Only particles move. Bodies keep the poses of the state, and particles exert no forces on them.
    """

    Config = ImplicitMPMConfig
    coordinates = "maximal"
    detects_contacts = True
    supported_features = frozenset({"heterogeneous_worlds", "particles"})
    optional_features: ClassVar = {"particle_worlds": "separate_worlds"}
    supported_model_changes = frozenset({"MODEL_PROPERTIES"})
    supported_observables = frozenset[str]()
    mixed_worlds = "its iterations end for all worlds at once"
    unsaved_reason = "'implicit-mpm' lays its grid out anew in each substep, with what it keeps on it for the next one"

    def __init__(self, config: ImplicitMPMConfig) -> None:
        self.config = config
        self.eager_reason = _eager_reason(config)
        if config.separate_worlds:
            self.supported_features = type(self).supported_features | {"particle_worlds"}

    @property
    def is_capturable(self) -> bool:
        """True on CUDA if no substep allocates a grid."""
        return self.eager_reason is None

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register additional attributes of particles: stiffness, yield and friction, strain and stress."""
        import newton

        newton.solvers.SolverImplicitMPM.register_custom_attributes(builder)

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Yield a fault if there is nothing to move."""
        if not model.particle_count:
            yield "type: 'implicit-mpm' moves particles, got 0; add some, or choose another solver"

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverImplicitMPM:
        """Return the solver with all options of the configuration.

        Raises:
            ConfigError: A grid cannot be built.
        """
        from warp import fem

        from .solver import ResettableMPM

        if not model.device.is_cuda:
            self.eager_reason = "on the CPU, a graph of it does not replay what was recorded"
        options = attrs.asdict(self.config)
        del options["project_outside_colliders"]
        timing = {name: options.pop(name) for name in ("verbose", "enable_timers")}
        try:
            return ResettableMPM(model, ResettableMPM.Config(**options), temporary_store=fem.TemporaryStore(), **timing)
        except RuntimeError as error:
            raise pippin.ConfigError(f"grid_type: {self.config.grid_type!r} cannot be built: {error}") from error
        except ZeroDivisionError as error:
            raise pippin.ConfigError(
                f"grid_type: {self.config.grid_type!r} cannot be built around particles that all lie in a plane, or in"
                " a line; add particles beside it"
            ) from error

    @pippin.hookimpl
    def initialize_contacts(self) -> ContactSource:
        """Return a source without contacts: colliders act through the grid."""
        return ContactSource()

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Keep the attribute names of a state before the solver adds its own."""
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
        """Move the particles, with `project_outside_colliders` also out of colliders; bodies keep their poses."""
        import warp as wp

        solver.step(state_in, state_out, control, None, dt)  # pyright: ignore[reportArgumentType] it uses no contacts
        if self.config.project_outside_colliders:
            solver.project_outside(state_out, state_out, dt)
        if state_in.body_q is not None and state_out.body_q is not None:
            wp.copy(state_out.body_q, state_in.body_q)
        if state_in.body_qd is not None and state_out.body_qd is not None:
            wp.copy(state_out.body_qd, state_in.body_qd)
        # The solver adds its fields to the state that it writes; both states must have the same fields.
        for name in vars(state_out).keys() - self._names:
            setattr(state_in, name, getattr(state_out, name))

    @pippin.hookimpl
    def after_step(self, simulation: pippin.Simulation) -> None:
        """Raise if a bounded grid was too small. Synchronises with the device if the grid is bounded.

        Raises:
            SimulationError: Names the keys to raise.
        """
        if self.config.max_active_cell_count < 0:
            return
        try:
            simulation.solver.check_sparse_grid_rebuild_status()  # pyright: ignore[reportAttributeAccessIssue]
        except RuntimeError as error:
            raise pippin.SimulationError(f"solver: step {simulation.step_count}: {error}") from error


def _eager_reason(config: ImplicitMPMConfig) -> str | None:
    """Return the reason why a step cannot be recorded on any device, or None."""
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
