"""Semi-implicit Euler with penalty joints: a solver for Pippin."""

from __future__ import annotations

from typing import ClassVar

import attrs
import newton
import pippin
from pippin.solving import RIGID_TREES, deterministic_mode, soft_joint_notes

from . import SemiImplicitConfig
from .solid import SolidSemiImplicit
from .stability import diverging_joint

__all__ = ["SolverSemiImplicit"]


class SolverSemiImplicit:
    """Newton's `SolverSemiImplicit`, over contacts from Newton's pipeline."""

    coordinates = "maximal"
    supported_features = RIGID_TREES | {
        "body_variants": "live",
        "activations": "live",
        "adhesion": "live",
        "air_drag": "live",
        "bending": "live",
        "bending_damping": "live",
        "carried_sliders": "no",
        "contact_stiffness": "live",
        "disabled_joints": "live",
        "friction_damping": "live",
        "gradients": "live",
        "heterogeneous_worlds": "live",
        "inactive_equalities": "live",
        "joint_damping": "live",
        "joint_stiffness": "live",
        "kinematic_bodies": "live",
        "limit_stiffness": "live",
        "loop_joints": "live",
        "mimic_joints": "live",
        "particle_adhesion": "live",
        "particle_cohesion": "live",
        "particle_contact_stiffness": "live",
        "particle_contacts": "live",
        "particle_friction": "live",
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
    optional_features: ClassVar = {
        "face_contacts": "enable_tri_contact",
        "particle_worlds": "disable_particle_contacts",
    }
    deterministic_on = frozenset({"cpu", "cuda"})
    supported_observables = frozenset[str]()

    def __init__(self, config: SemiImplicitConfig) -> None:
        self.config = config
        self.notes: list[str] = []
        if config.disable_particle_contacts:
            touching = ("particle_cohesion", "particle_contact_stiffness", "particle_contacts", "particle_friction")
            apart = {"particle_worlds": "live", **dict.fromkeys(touching, "no")}
            self.supported_features = type(self).supported_features | apart
        elif config.enable_tri_contact:
            self.supported_features = type(self).supported_features | {"face_contacts": "live"}

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float, substeps: int) -> newton.solvers.SolverSemiImplicit:
        """Return the solver with all options of the configuration."""
        options = attrs.asdict(self.config)
        if model.joint_count:
            self.notes = soft_joint_notes(model, self.config.joint_attach_ke, "joint_attach_ke")
            label, parts = diverging_joint(model, self.config, dt)
            if label:
                self.notes.append(
                    f"the springs that hold {label!r} diverge with substeps of {dt:.2g} s, as its bodies are light for"
                    f" them; set simulation.substeps to {substeps * parts}, lower joint_attach_ke and joint_attach_kd,"
                    " or set collapse_fixed_joints = true of the asset if there are fixed joints"
                )
        if options.pop("disable_particle_contacts"):
            model.particle_grid = None
            options["enable_tri_contact"] = False
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        return SolidSemiImplicit(model, **options)
