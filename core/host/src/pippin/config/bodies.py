"""The tables `[scene.bodies."PATTERN"]`: masses of bodies in place of those of their files."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
from attrs.validators import deep_iterable, optional
from pippin.validators import finite, positive

from .geometry import Vector3


def _three_or_six(instance: Any, attribute: attrs.Attribute[Any], value: tuple[float, ...] | None) -> None:
    if value is not None and len(value) not in (3, 6):
        raise ValueError(
            f"'inertia' must be 3 moments, or 3 moments and 3 products xy, xz, yz, got {len(value)} numbers"
        )


@attrs.frozen(kw_only=True)
class BodyMassConfig:
    """One table of `[scene.bodies]`, by pattern of labels of bodies: what stands in place of the asset's numbers."""

    is_by_pattern: ClassVar = True
    """For the core: whether the keys of such tables are patterns, and no labels."""

    mass: float | None = attrs.field(default=None, validator=optional(positive))
    """Mass [kg]. Without `inertia`, the inertia grows with it."""

    com: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(finite)))
    """Centre of mass, in axes of the body from its origin [m]."""

    inertia: tuple[float, ...] | None = attrs.field(
        default=None, validator=[optional(deep_iterable(finite)), _three_or_six]
    )
    """Inertia about the centre of mass, in axes of the body [kg·m²]: xx, yy, zz, and perhaps xy, xz, yz."""
