"""Extended position-based dynamics, as a Pippin solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pippin
from attrs.validators import ge
from pippin.solving import RIGID_CHANGES, RIGID_TREES, deterministic_mode
from pippin.validators import finite

if TYPE_CHECKING:
    import newton

__all__ = ["SolverXPBD", "XPBDConfig"]


def non_negative(default: float) -> float:
    """Return a field for a finite number that is at least zero."""
    return attrs.field(default=default, validator=[finite, ge(0.0)])


@attrs.frozen(kw_only=True)
class XPBDConfig:
    """Position-based dynamics with compliance: stable at large steps, dissipative, in maximal coordinates."""

    iterations: int = attrs.field(default=2, validator=ge(1))
    """Iterations over all constraints per substep."""

    soft_body_relaxation: float = non_negative(0.9)
    """Factor on the corrections of springs, bending and tetrahedra."""

    soft_contact_relaxation: float = non_negative(0.9)
    """Factor on the corrections of contacts between particles and shapes."""

    joint_linear_relaxation: float = non_negative(0.7)
    """Factor on the linear corrections of joints."""

    joint_angular_relaxation: float = non_negative(0.4)
    """Factor on the angular corrections of joints."""

    joint_linear_compliance: float = non_negative(0.0)
    """Compliance of joints along their linear constraints [m/N]."""

    joint_angular_compliance: float = non_negative(0.0)
    """Compliance of joints about their angular constraints [rad/(N·m)]."""

    rigid_contact_relaxation: float = non_negative(0.8)
    """Factor on the corrections of rigid contacts."""

    rigid_contact_restitution_iterations: int = attrs.field(default=2, validator=ge(1))
    """Iterations over the contacts when restitution is applied."""

    rigid_contact_con_weighting: bool = True
    """Whether a body's corrections are divided by the number of its contacts."""

    angular_damping: float = non_negative(0.0)
    """Damping of angular velocity [1/s]."""

    enable_restitution: bool = False
    """Whether the shapes' coefficient of restitution is applied."""

    tendon_max_sweeps: int = attrs.field(default=256, validator=ge(1))
    """Largest number of sweeps over a tendon's segments."""

    tendon_settle_tol: float = non_negative(1e-3)
    """Change at which the sweeps over a tendon stop."""

    tendon_activation_tol: float = non_negative(2e-3)
    """Tolerance at which a tendon's guide becomes active."""

    deterministic: bool | None = None
    """Whether every run on one GPU gives the same bits (no); on the CPU it does. `simulation.determinism` sets it."""


class SolverXPBD:
    """Newton's `SolverXPBD`, over contacts from Newton's pipeline."""

    Config = XPBDConfig
    coordinates = "maximal"
    supported_features = RIGID_TREES | {
        "bending",
        "disabled_joints",
        "distance_joints",
        "heterogeneous_worlds",
        "loop_joints",
        "mimic_joints",
        "particles",
        "springs",
        "tendons",
        "tetrahedra",
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

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverXPBD:
        """Return the solver with every option of the configuration."""
        import newton

        options = attrs.asdict(self.config)
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        return newton.solvers.SolverXPBD(model, **options)
