"""Pads that hold bodies by suction, as a Pippin actuator: the settings."""

from __future__ import annotations

import attrs
from attrs.validators import ge, le, min_len, optional
from pippin.sensing import FrameConfig
from pippin.validators import positive

__all__ = ["SurfaceGripperConfig"]


@attrs.frozen(kw_only=True)
class SurfaceGripperConfig(FrameConfig):
    """Suction cups and other pads, each of which seals on a surface that its whole rim touches.

    The frame is that of a pad: its rim is a circle about z in the plane z = 0, and z points out of the pad. While a pad
    holds, a spring and a damper along x, y, z of the pad and about them pull the body back to where it was taken. Their
    stiffness follows from the mass m that the body has at the pad along each axis: m ω², with ω = 2 π `frequency`, and
    the damping is 2 m ω `damping_ratio`. The wrench acts on both bodies at one point, equal and opposite.
    """

    implementation = ".gripper:SurfaceGripper"

    radius: float = attrs.field(validator=positive)
    """Radius of the rim [m]."""

    reach: float = attrs.field(default=0.002, validator=positive)
    """Largest distance of each point of the rim from the surface at which the pad seals [m]."""

    bodies: tuple[str, ...] = attrs.field(default=(".*",), validator=min_len(1))
    """Patterns of the names of bodies that the pads can hold; those of their own robot are left out."""

    suction: float = attrs.field(default=0.0, validator=[ge(0.0), le(1.0)])
    """Suction of all pads at the start: they hold above one half."""

    frequency: float = attrs.field(default=20.0, validator=positive)
    """Frequency at which a held body swings about its place in the pad [Hz]; under gravity g it hangs g / ω² lower."""

    damping_ratio: float = attrs.field(default=1.0, validator=positive)
    """Damping of this swing; 1 is critical."""

    pull_limit: float | None = attrs.field(default=None, validator=optional(positive))
    """Pull along z at which the seal breaks [N]; by default none, as for the other limits."""

    shear_limit: float | None = attrs.field(default=None, validator=optional(positive))
    """Force across z at which it breaks [N]."""

    peel_limit: float | None = attrs.field(default=None, validator=optional(positive))
    """Torque across z at which it breaks [N·m]."""

    twist_limit: float | None = attrs.field(default=None, validator=optional(positive))
    """Torque about z at which it breaks [N·m]."""
