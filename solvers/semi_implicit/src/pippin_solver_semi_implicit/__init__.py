"""Semi-implicit Euler with penalty joints: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import attrs
from pippin.solving import number
from pippin.validators import non_negative

__all__ = ["SemiImplicitConfig"]


@attrs.frozen(kw_only=True)
class SemiImplicitConfig:
    """Symplectic Euler in maximal coordinates, with joints and contacts as stiff springs; needs small steps."""

    implementation = ".solver:SolverSemiImplicit"

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
