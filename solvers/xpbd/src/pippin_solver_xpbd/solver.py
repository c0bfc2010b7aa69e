"""Newton's XPBD solver with the options of the configuration."""

from __future__ import annotations

from typing import ClassVar

import attrs
import newton
import pippin
from pippin.solving import RIGID_CHANGES, RIGID_TREES, deterministic_mode

from . import XPBDConfig
from .grid import EmptyGrid
from .steady import SteadyXPBD

__all__ = ["SolverXPBD"]


class SolverXPBD:
    """Newton's `SolverXPBD`, over contacts from Newton's pipeline."""

    coordinates = "maximal"
    supported_features = RIGID_TREES | {
        "activations",
        "bending",
        "bending_damping",
        "disabled_joints",
        "distance_joints",
        "heterogeneous_worlds",
        "inactive_equalities",
        "kinematic_bodies",
        "loop_joints",
        "mimic_joints",
        "particle_adhesion",
        "particle_cohesion",
        "particle_contacts",
        "particle_friction",
        "particles",
        "rest_angles",
        "rolling_friction",
        "soft_contact_friction",
        "springs",
        "tendons",
        "tetrahedra",
        "tetrahedron_damping",
        "torsional_friction",
    }
    optional_features: ClassVar = {
        "particle_worlds": "disable_particle_contacts",
        "restitution": "enable_restitution",
        "soft_contact_restitution": "enable_restitution",
    }
    deterministic_on = frozenset({"cpu", "cuda"})
    supported_model_changes = RIGID_CHANGES | {
        "BODY_PROPERTIES",
        "CONSTRAINT_PROPERTIES",
        "TENDON_PROPERTIES",
    }
    supported_observables = frozenset({"body_parent_f", "contact_f"})

    def __init__(self, config: XPBDConfig) -> None:
        self.config = config
        self.supported_features = type(self).supported_features | {
            feature for feature, option in self.optional_features.items() if getattr(config, option)
        }
        if config.disable_particle_contacts:
            self.supported_features -= {"particle_cohesion", "particle_contacts", "particle_friction"}

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverXPBD:
        """Return the solver with all options of the configuration."""
        options = attrs.asdict(self.config)
        if options.pop("disable_particle_contacts") and model.particle_grid is not None:
            model.particle_grid = EmptyGrid(model.device)
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        return SteadyXPBD(model, **options)
