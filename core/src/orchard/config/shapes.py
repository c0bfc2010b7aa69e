"""The `[scene.shapes]` table: what shapes are made of where their asset does not say."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import ge, optional

from .validators import finite

__all__ = ["ShapeConfig"]


def _inherited() -> Any:
    """Return a field for a finite number that is at least zero, Newton's default where it is not given."""
    return attrs.field(default=None, validator=optional([finite, ge(0.0)]))


@attrs.frozen(kw_only=True)
class ShapeConfig:
    """Defaults of shapes, set before any asset is read: what an asset states itself goes before them."""

    density: float | None = _inherited()
    """Density [kg/m³] (1000)."""

    ke: float | None = _inherited()
    """Contact stiffness [N/m] (2500)."""

    kd: float | None = _inherited()
    """Contact damping [N·s/m] (100)."""

    kf: float | None = _inherited()
    """Damping of friction in penalty contacts [N·s/m] (1000)."""

    ka: float | None = _inherited()
    """Distance at which penalty contacts adhere [m] (0)."""

    mu: float | None = _inherited()
    """Coefficient of sliding friction (1)."""

    restitution: float | None = _inherited()
    """Coefficient of restitution (0)."""

    mu_torsional: float | None = _inherited()
    """Coefficient of torsional friction [m] (0.005)."""

    mu_rolling: float | None = _inherited()
    """Coefficient of rolling friction [m] (0.0001)."""

    margin: float | None = _inherited()
    """Thickness added to a shape, at which contacts push [m] (0)."""

    gap: float | None = _inherited()
    """Distance beyond the margins at which contacts are detected [m]; by default Newton's."""

    kh: float | None = _inherited()
    """Stiffness of hydroelastic contacts [Pa/m] (1e10)."""
