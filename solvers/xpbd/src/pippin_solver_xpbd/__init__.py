"""Extended position-based dynamics: a solver for Pippin."""

from __future__ import annotations

import attrs
from attrs.validators import ge
from pippin.solving import number
from pippin.validators import non_negative

__all__ = ["XPBDConfig"]


@attrs.frozen(kw_only=True)
class XPBDConfig:
    """Position-based dynamics with compliance: stable at large steps, dissipative, in maximal coordinates."""

    implementation = ".solver:SolverXPBD"
    benchmark_variants = ("iterations=8",)

    iterations: int = number(2, ge(1))
    """Iterations over all constraints per substep."""

    soft_body_relaxation: float = number(0.9, non_negative)
    """Factor on the corrections of springs, bending and tetrahedra."""

    soft_contact_relaxation: float = number(0.9, non_negative)
    """Factor on the corrections of contacts between particles and shapes."""

    joint_linear_relaxation: float = number(0.5, non_negative)
    """Factor on the displacements by joints. Give both factors one value: a body on a joint turns as if its inertia
    were multiplied by this one and divided by the other one.
    """

    joint_angular_relaxation: float = number(0.5, non_negative)
    """Factor on the rotations by joints."""

    joint_linear_compliance: float = number(0.0, non_negative)
    """Compliance of joints along their linear constraints [m/N]."""

    joint_angular_compliance: float = number(0.0, non_negative)
    """Compliance of joints about their angular constraints [rad/(N·m)]."""

    rigid_contact_relaxation: float = number(0.8, non_negative)
    """Factor on the corrections of rigid contacts."""

    rigid_contact_restitution_iterations: int = number(2, ge(1))
    """Iterations over the contacts to apply restitution."""

    rigid_contact_con_weighting: bool = True
    """Whether a body's corrections are divided by the number of its contacts. If true, two bodies with unlike numbers
    push each other unequally, and `contact_f` between them is off, such as by a third in a stack of two boxes."""

    disable_particle_contacts: bool = False
    """Whether particles pass through each other. The solver does not keep their worlds apart, so several need this."""

    angular_damping: float = number(0.0, non_negative)
    """Damping of angular velocity [1/s]."""

    enable_restitution: bool = False
    """Whether the shapes' coefficient of restitution is applied."""

    tendon_max_sweeps: int = number(256, ge(1))
    """Largest number of sweeps over a tendon's segments."""

    tendon_settle_tol: float = number(1e-3, non_negative)
    """Change at which the sweeps over a tendon stop."""

    tendon_activation_tol: float = number(2e-3, non_negative)
    """Tolerance at which a tendon's guide becomes active."""

    deterministic: bool | None = None
    """Whether every run on one GPU gives the same bits (no); on the CPU it does. `simulation.determinism` sets it."""
