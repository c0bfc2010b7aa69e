"""Style3D: a solver for Pippin."""

from __future__ import annotations

import attrs
from attrs.validators import ge
from pippin.solving import number
from pippin.validators import non_negative

__all__ = ["Style3DConfig"]


@attrs.frozen(kw_only=True)
class Style3DConfig:
    """Projective dynamics of woven cloth, with different stiffness along and across its threads, and in bending."""

    implementation = ".solver:SolverStyle3D"

    iterations: int = number(10, ge(1))
    """Iterations per substep."""

    linear_iterations: int = number(10, ge(1))
    """Iterations of the linear solver per iteration."""

    drag_spring_stiff: float = number(1e2, non_negative)
    """Stiffness of the spring by which a mouse drags cloth [N/m]."""

    enable_mouse_dragging: bool = False
    """Whether a mouse can drag cloth."""
