"""Settings of the friction of servos."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs
from pippin.actuation import Parameter, parameter

__all__ = ["KEYS_OF_FRICTION", "FrictionConfig", "FrictionType"]

FrictionType = Literal["m1", "m2", "m3", "m4", "m5", "m6"]

_FADING = ("kcs", "vs", "alpha")
_DIRECTED = ("km", "ke", "kms", "kes")

KEYS_OF_FRICTION: Mapping[FrictionType, tuple[str, ...]] = {
    "m1": ("kc", "kv"),
    "m2": ("kc", "kv", *_FADING),
    "m3": ("kc", "kv", "kl"),
    "m4": ("kc", "kv", "kl", *_FADING, "kls"),
    "m5": ("kc", "kv", *_FADING, *_DIRECTED),
    "m6": ("kc", "kv", *_FADING, *_DIRECTED, "kmq", "keq"),
}
"""The numbers of each formula of friction."""


@attrs.frozen(kw_only=True)
class FrictionConfig:
    """Friction of motor and gears: a budget M that the friction uses as far as it must to hold the joint.

    τ is the torque of the motor, τe that of everything else on the joint, and s = exp(-|q̇ / vs|^alpha).

    - `m1`: M = kc + kv |q̇|
    - `m2`: M = m1 + s kcs
    - `m3`: M = m1 + kl |τ - τe|
    - `m4`: M = m3 + s (kcs + kls |τ - τe|)
    - `m5`: M = m1 + |km τ - ke τe| + s (kcs + |kms τ - kes τe|)
    - `m6`: M = m5 + s Q while τ and τe oppose each other, Q = keq τe² if the motor is the stronger one, else kmq τ²
    """

    type: FrictionType | None = None
    """The formula; by default the last one that the library has for `model`."""

    kc: Parameter | None = parameter(minimum=0.0, default=None)
    """Dry friction [N·m], for all joints or by pattern."""

    kv: Parameter | None = parameter(minimum=0.0, default=None)
    """Viscous friction [N·m·s/rad], likewise, as are all that follow."""

    kcs: Parameter | None = parameter(minimum=0.0, default=None)
    """Dry friction that fades with the speed [N·m]."""

    vs: Parameter | None = parameter(default=None, above=0.0)
    """Speed by which it has faded to 1/e [rad/s]."""

    alpha: Parameter | None = parameter(minimum=0.0, default=None)
    """Exponent of the fading."""

    kl: Parameter | None = parameter(minimum=0.0, default=None)
    """Friction per load on the gears."""

    kls: Parameter | None = parameter(minimum=0.0, default=None)
    """Friction per load that fades with the speed."""

    km: Parameter | None = parameter(minimum=0.0, default=None)
    """Friction per torque of the motor."""

    ke: Parameter | None = parameter(minimum=0.0, default=None)
    """Friction per torque of everything else."""

    kms: Parameter | None = parameter(minimum=0.0, default=None)
    """Friction per torque of the motor that fades with the speed."""

    kes: Parameter | None = parameter(minimum=0.0, default=None)
    """Friction per torque of everything else that fades with the speed."""

    kmq: Parameter | None = parameter(minimum=0.0, default=None)
    """Friction per squared torque of the motor while the load is stronger [1/(N·m)]."""

    keq: Parameter | None = parameter(minimum=0.0, default=None)
    """Friction per squared load while the motor is stronger than the load [1/(N·m)]."""

    def __attrs_post_init__(self) -> None:
        if self.type is None:
            return
        known = KEYS_OF_FRICTION[self.type]
        for field in attrs.fields(type(self)):
            if field.name not in ("type", *known) and getattr(self, field.name) is not None:
                raise ValueError(f"'{field.name}' is no number of type {self.type!r}; its numbers: {', '.join(known)}")

    @property
    def missing(self) -> tuple[str, ...]:
        """The numbers of the formula that are not given."""
        return tuple(name for name in KEYS_OF_FRICTION[self.type or "m1"] if getattr(self, name) is None)
