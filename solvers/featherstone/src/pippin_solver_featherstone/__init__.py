"""Featherstone's composite rigid body algorithm: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import attrs
from attrs.validators import ge
from pippin.solving import number
from pippin.validators import non_negative

__all__ = ["FeatherstoneConfig"]


@attrs.frozen(kw_only=True)
class FeatherstoneConfig:
    """Reduced coordinates, composite rigid body algorithm, symplectic Euler, penalty contacts; needs small steps."""

    implementation = ".solver:SolverFeatherstone"

    replaced_keys: ClassVar[Mapping[str, str]] = {"friction_smoothing": "set kf of the shapes, the damping of friction"}

    angular_damping: float = number(0.05, non_negative)
    """Damping of angular velocity [1/s]; Newton 1.8 accepts it but does not apply it."""

    update_mass_matrix_interval: int = number(1, ge(1))
    """Substeps between two factorisations of the mass matrix; only 1 can be captured."""

    use_tile_gemm: bool = False
    """Whether matrix products use tiles (CUDA)."""

    fuse_cholesky: bool = True
    """Whether the factorisation is fused with the tiled product (CUDA)."""

    deterministic: bool | None = None
    """Whether every run on one GPU gives the same bits (no); on the CPU it does. `simulation.determinism` sets it."""
