"""Featherstone's composite rigid body algorithm: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import newton
import pippin
from pippin.solving import RIGID_TREES, deterministic_mode

from . import FeatherstoneConfig
from .differentiable import DifferentiableFeatherstone
from .stable import StableFeatherstone

__all__ = ["SolverFeatherstone"]


class SolverFeatherstone:
    """Newton's `SolverFeatherstone`, over contacts from Newton's pipeline."""

    coordinates = "reduced"
    longest_contact_step = 3.2e-4  # a quadruped of 2.5 kg on Newton's contacts, 2 500 N/m
    supported_features = RIGID_TREES | {
        "body_variants": "live",
        "activations": "live",
        "adhesion": "live",
        "air_drag": "live",
        "armature": "live",
        "bending": "live",
        "bending_damping": "live",
        "contact_stiffness": "live",
        "friction_damping": "live",
        "gradients": "live",
        "heterogeneous_worlds": "live",
        "joint_damping": "live",
        "joint_stiffness": "live",
        "kinematic_bodies": "build",  # a graph keeps their old armature
        "light_links": "live",
        "limit_stiffness": "live",
        "massless_bodies": "live",
        "mimic_joints": "live",
        "particle_adhesion": "live",
        "particle_worlds": "live",
        "particles": "live",
        "rest_angles": "live",
        "soft_contact_friction": "live",
        "soft_contact_friction_damping": "live",
        "soft_contact_stiffness": "live",
        "springs": "live",
        "tetrahedra": "live",
        "tetrahedron_damping": "live",
        "triangle_damping": "live",
        "triangles": "live",
    }
    deterministic_on = frozenset({"cpu", "cuda"})
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
        options = attrs.asdict(self.config)
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        if not model.requires_grad:
            return StableFeatherstone(model, **options)
        return DifferentiableFeatherstone(model, **options)
