"""Settings of the object `body`: a rigid body with shapes, or shapes that never move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, deep_mapping, instance_of, min_len, optional
from pippin.config.geometry import HERE, Vector3
from pippin.config.joints import JointConfig
from pippin.inertias import moment_fault
from pippin.validators import finite, only_where, positive

from .config import ObjectConfig
from .shape_configs import ObjectShapeConfig

_moves = only_where(lambda body: body.motion != "static", "a motion that is not 'static'")
_is_free = only_where(lambda body: body.motion != "static" and body.joint is None, "a body that moves without a joint")


def _has_position(instance: Any, attribute: Any, value: Mapping[str, float]) -> None:
    if value and not hasattr(instance.joint, "position"):
        raise ValueError(f"'{attribute.name}' needs a joint of type 'revolute' or 'prismatic'; leave it out otherwise")


def _the_only_mass(instance: Any, attribute: Any, value: float | None) -> None:
    if value is not None and instance.extra_mass is not None:
        raise ValueError(f"'{attribute.name}' is given beside 'extra_mass'; leave one of the two out: {value}")


def _of_a_body(instance: Any, attribute: Any, value: Vector3 | None) -> None:
    if value is not None and (fault := moment_fault(sorted(value))):
        raise ValueError(f"'{attribute.name}' {fault}")


@attrs.frozen(kw_only=True)
class BodyConfig(ObjectConfig):
    """A rigid body with shapes, or shapes that never move."""

    implementation = ".body:Body"

    motion: Literal["free", "kinematic", "static"] = "free"
    """What moves the body: forces (`free`), prescribed poses or velocities alone (`kinematic`), or nothing
    (`static`)."""

    shapes: tuple[ObjectShapeConfig, ...] = ()
    """Shapes of the body."""

    material: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of a material of `[scene.materials]`, for shapes that state none."""

    velocity: Vector3 = attrs.field(default=HERE, validator=[deep_iterable(finite), _is_free])
    """Start velocity of the centre of mass in the world [m/s]."""

    angular_velocity: Vector3 = attrs.field(default=HERE, validator=[deep_iterable(finite), _is_free])
    """Start angular velocity in the world [rad/s]."""

    mass: float | None = attrs.field(default=None, validator=[optional(positive), _moves, _the_only_mass])
    """Mass of the whole body [kg]; by default that of its shapes, by their densities. The inertia is scaled alike."""

    inertia: Vector3 | None = attrs.field(
        default=None,
        validator=[optional(deep_iterable(positive)), _of_a_body, only_where(lambda body: body.mass, "'mass'")],
    )
    """Moments of inertia about the axes of the body, at the centre of mass [kg·m²]; by default those of the shapes.
    With `mass` and `com`, the shapes add nothing."""

    com: Vector3 | None = attrs.field(
        default=None, validator=[optional(deep_iterable(finite)), only_where(lambda body: body.inertia, "'inertia'")]
    )
    """Centre of mass in the frame of the body [m], given with `inertia`; the origin by default."""

    extra_mass: float | None = attrs.field(default=None, validator=[optional(positive), _moves])
    """Mass of a point at the origin that is added to the shapes [kg]."""

    joint: JointConfig | None = attrs.field(default=None, validator=_moves)
    """Joint that moves the body, in place of a free one; every copy has its own."""

    joint_positions: Mapping[str, float] = attrs.field(
        factory=dict, validator=[deep_mapping(instance_of(str), finite), _has_position]
    )
    """Start positions of the joints of copies, by pattern of the copies' labels [m or rad]."""
