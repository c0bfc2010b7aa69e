"""Semi-implicit Euler with penalty joints: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import attrs
import pippin
from pippin.solving import RIGID_CHANGES, RIGID_TREES, deterministic_mode, number
from pippin.validators import non_negative

if TYPE_CHECKING:
    import newton

__all__ = ["SemiImplicitConfig", "SolverSemiImplicit"]


@attrs.frozen(kw_only=True)
class SemiImplicitConfig:
    """Symplectic Euler in maximal coordinates, with joints and contacts as stiff springs; needs small steps."""

    replaced_keys: ClassVar[Mapping[str, str]] = {"friction_smoothing": "set kf of the shapes, the damping of friction"}

    angular_damping: float = number(0.05, non_negative)
    """Damping of angular velocity [1/s]."""

    joint_attach_ke: float = number(1.0e4, non_negative)
    """Stiffness that holds joints together [N/m, N·m/rad]."""

    joint_attach_kd: float = number(1.0e2, non_negative)
    """Damping that holds joints together [N·s/m, N·m·s/rad]."""

    joint_mimic_ke: float = number(1.0e2, non_negative)
    """Stiffness that couples mimic joints to their leaders [N·m/rad]."""

    joint_mimic_kd: float = number(1.0, non_negative)
    """Damping of mimic joints [N·m·s/rad]."""

    enable_tri_contact: bool = True
    """Whether particles collide with triangles."""

    disable_particle_contacts: bool = False
    """Whether particles pass through each other and through triangles. The solver does not keep their worlds apart, so
    several need this."""

    deterministic: bool | None = None
    """Whether every run on one GPU gives the same bits (no); on the CPU it does. `simulation.determinism` sets it."""


class SolverSemiImplicit:
    """Newton's `SolverSemiImplicit`, over contacts from Newton's pipeline."""

    Config = SemiImplicitConfig
    coordinates = "maximal"
    supported_features = RIGID_TREES | {
        "adhesion",
        "bending",
        "contact_stiffness",
        "disabled_joints",
        "friction_damping",
        "gradients",
        "heterogeneous_worlds",
        "inactive_equalities",
        "limit_stiffness",
        "joint_damping",
        "joint_stiffness",
        "loop_joints",
        "mimic_joints",
        "muscles",
        "particles",
        "springs",
        "tetrahedra",
        "triangles",
    }
    optional_features: ClassVar = {"particle_worlds": "disable_particle_contacts"}
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
            self.supported_features = type(self).supported_features | {"particle_worlds"}

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverSemiImplicit:
        """Return the solver with all options of the configuration."""
        import newton

        options = attrs.asdict(self.config)
        if options.pop("disable_particle_contacts"):
            model.particle_grid = None
            options["enable_tri_contact"] = False
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        return newton.solvers.SolverSemiImplicit(model, **options)
