"""Semi-implicit Euler with penalty joints: a solver for Pippin."""

from __future__ import annotations

from typing import ClassVar

import attrs
import newton
import pippin
from pippin.solving import RIGID_CHANGES, RIGID_TREES, deterministic_mode

from . import SemiImplicitConfig

__all__ = ["SolverSemiImplicit"]


class SolverSemiImplicit:
    """Newton's `SolverSemiImplicit`, over contacts from Newton's pipeline."""

    coordinates = "maximal"
    supported_features = (RIGID_TREES - {"carried_sliders"}) | {
        "activations",
        "adhesion",
        "air_drag",
        "bending",
        "bending_damping",
        "contact_stiffness",
        "disabled_joints",
        "friction_damping",
        "gradients",
        "heterogeneous_worlds",
        "inactive_equalities",
        "joint_damping",
        "joint_stiffness",
        "kinematic_bodies",
        "limit_stiffness",
        "loop_joints",
        "mimic_joints",
        "particle_adhesion",
        "particle_cohesion",
        "particle_contact_stiffness",
        "particle_contacts",
        "particle_friction",
        "particles",
        "rest_angles",
        "soft_contact_friction",
        "soft_contact_friction_damping",
        "soft_contact_stiffness",
        "springs",
        "tetrahedra",
        "tetrahedron_damping",
        "triangle_damping",
        "triangles",
    }
    optional_features: ClassVar = {
        "face_contacts": "enable_tri_contact",
        "particle_worlds": "disable_particle_contacts",
    }
    deterministic_on = frozenset({"cpu", "cuda"})
    supported_model_changes = RIGID_CHANGES | {
        "BODY_PROPERTIES",
        "CONSTRAINT_PROPERTIES",
        "JOINT_REFERENCE_POSE_PROPERTIES",
    }
    supported_observables = frozenset[str]()

    def __init__(self, config: SemiImplicitConfig) -> None:
        self.config = config
        if config.disable_particle_contacts:
            touching = {"particle_cohesion", "particle_contact_stiffness", "particle_contacts", "particle_friction"}
            self.supported_features = (type(self).supported_features | {"particle_worlds"}) - touching
        elif config.enable_tri_contact:
            self.supported_features = type(self).supported_features | {"face_contacts"}

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverSemiImplicit:
        """Return the solver with all options of the configuration."""
        options = attrs.asdict(self.config)
        if options.pop("disable_particle_contacts"):
            model.particle_grid = None
            options["enable_tri_contact"] = False
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        return newton.solvers.SolverSemiImplicit(model, **options)
