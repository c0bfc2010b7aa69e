"""Joint encoders, as a Pippin sensor."""

from __future__ import annotations

import attrs
from attrs.validators import min_len
from pippin import sensing

__all__ = ["JointStateConfig"]


@attrs.frozen(kw_only=True)
class JointStateConfig(sensing.SensorConfig):
    """Encoders of joints: position, velocity and applied effort."""

    implementation = ".sensor:SensorJointState"

    joints: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Full-match regular expressions of names of joints or axes; of whole labels if they contain a `/`. Joints without
    axes are left out."""
