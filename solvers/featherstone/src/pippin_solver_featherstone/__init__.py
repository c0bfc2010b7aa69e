"""Featherstone's composite rigid body algorithm: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

import attrs
import pippin
from attrs.validators import ge
from pippin.solving import RIGID_CHANGES, RIGID_TREES, deterministic_mode, number
from pippin.validators import non_negative

if TYPE_CHECKING:
    import newton

__all__ = ["FeatherstoneConfig", "SolverFeatherstone"]


@attrs.frozen(kw_only=True)
class FeatherstoneConfig:
    """Reduced coordinates, composite rigid body algorithm, symplectic Euler, penalty contacts; needs small steps."""

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


class SolverFeatherstone:
    """Newton's `SolverFeatherstone`, over contacts from Newton's pipeline."""

    Config = FeatherstoneConfig
    coordinates = "reduced"
    supported_features = RIGID_TREES | {
        "adhesion",
        "armature",
        "bending",
        "contact_stiffness",
        "friction_damping",
        "gradients",
        "heterogeneous_worlds",
        "joint_damping",
        "joint_stiffness",
        "light_links",
        "limit_stiffness",
        "massless_bodies",
        "mimic_joints",
        "muscles",
        "particle_worlds",
        "particles",
        "springs",
        "tetrahedra",
        "triangles",
    }
    deterministic_on = frozenset({"cpu", "cuda"})
    # Not BODY_PROPERTIES: a graph keeps the old armature of kinematic bodies.
    supported_model_changes = RIGID_CHANGES | {
        "CONSTRAINT_PROPERTIES",
        "JOINT_DOF_INERTIAL_PROPERTIES",
        "JOINT_REFERENCE_POSE_PROPERTIES",
    }
    # Not body_parent_f: Newton leaves the accelerations of the joints out of it.
    supported_observables: frozenset[str] = frozenset()
    eager_reason = "a graph would repeat one choice between factorising and not"

    def __init__(self, config: FeatherstoneConfig) -> None:
        self.config = config

    @property
    def is_capturable(self) -> bool:
        """True if every substep factorises the mass matrix."""
        return self.config.update_mass_matrix_interval == 1

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Yield the options that would make the gradients of a model wrong, if it has some."""
        if not model.requires_grad:
            return
        if self.config.update_mass_matrix_interval != 1:
            yield (
                f"update_mass_matrix_interval: {self.config.update_mass_matrix_interval}, but the gradients that"
                " simulation.requires_grad asks for need the mass matrix of each substep; use 1"
            )
        if self.config.use_tile_gemm:
            yield (
                "use_tile_gemm: true, but tiles keep one mass matrix for all substeps, and the gradients that"
                " simulation.requires_grad asks for need each; use false"
            )

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverFeatherstone:
        """Return the solver with all options of the configuration."""
        import newton

        options = attrs.asdict(self.config)
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        if not model.requires_grad:
            return newton.solvers.SolverFeatherstone(model, **options)
        from .differentiable import DifferentiableFeatherstone

        return DifferentiableFeatherstone(model, **options)
