"""Newton's XPBD solver with the options of the configuration."""

from __future__ import annotations

from typing import ClassVar

import attrs
import newton
import pippin
from pippin.solving import RIGID_TREES, deterministic_mode

from . import XPBDConfig
from .grid import EmptyGrid
from .steady import SteadyXPBD

__all__ = ["SolverXPBD"]


class SolverXPBD:
    """Newton's `SolverXPBD`, over contacts from Newton's pipeline."""

    coordinates = "maximal"
    supported_features = RIGID_TREES | {
        "activations": "live",
        "bending": "live",
        "bending_damping": "live",
        "disabled_joints": "live",
        "distance_joints": "live",
        "heterogeneous_worlds": "live",
        "inactive_equalities": "live",
        "kinematic_bodies": "live",
        "loop_joints": "live",
        "mimic_joints": "live",
        "particle_adhesion": "live",
        "particle_cohesion": "live",
        "particle_contacts": "live",
        "particle_friction": "live",
        "particles": "live",
        "rest_angles": "live",
        "rolling_friction": "live",
        "soft_contact_friction": "live",
        "springs": "live",
        "tendons": "live",
        "tetrahedra": "live",
        "tetrahedron_damping": "live",
        "torsional_friction": "live",
    }
    optional_features: ClassVar = {
        "particle_worlds": "disable_particle_contacts",
        "restitution": "enable_restitution",
        "soft_contact_restitution": "enable_restitution",
    }
    deterministic_on = frozenset({"cpu", "cuda"})
    supported_observables = frozenset({"body_parent_f", "contact_f"})

    def __init__(self, config: XPBDConfig) -> None:
        self.config = config
        self.supported_features = type(self).supported_features | {
            feature: "live" for feature, option in self.optional_features.items() if getattr(config, option)
        }
        if config.disable_particle_contacts:
            touching = ("particle_cohesion", "particle_contacts", "particle_friction")
            self.supported_features |= dict.fromkeys(touching, "no")

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverXPBD:
        """Return the solver with all options of the configuration."""
        options = attrs.asdict(self.config)
        if options.pop("disable_particle_contacts") and model.particle_grid is not None:
            model.particle_grid = EmptyGrid(model.device)
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        return SteadyXPBD(model, **options)
