"""The implicit material point method: a solver for Pippin."""

from __future__ import annotations

from typing import Any, Literal

import attrs
from attrs.validators import ge, in_, matches_re, or_
from pippin.solving import number
from pippin.validators import fraction, non_negative, positive

__all__ = ["ImplicitMPMConfig"]

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

    implementation = ".solver:SolverImplicitMPM"

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
