"""Force and torque through joints, as a Pippin sensor."""

from __future__ import annotations

import attrs
from attrs.validators import min_len
from pippin import sensing

__all__ = ["JointWrenchConfig"]


@attrs.frozen(kw_only=True)
class JointWrenchConfig(sensing.SensorConfig):
    """Force and torque that joints carry."""

    implementation = ".sensor:SensorJointWrench"

    joints: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Full-match regular expressions of names of joints or their axes; of whole labels if they contain a `/`. Free
    joints are left out."""
