"""Keys of every controller: whose targets it writes, and which frame follows the goal."""

from __future__ import annotations

import attrs
from attrs.validators import min_len
from pippin.sensing.config import FrameConfig


@attrs.frozen(kw_only=True, slots=False)
class ControllerConfig(FrameConfig):
    """Keys of every controller: whose targets it writes, and which frame, the tool, follows the goal."""

    actuator: str = attrs.field(validator=min_len(1))
    """Label of the actuator group whose targets the controller writes at the start of each control step."""

    joints: tuple[str, ...] = ()
    """Patterns of the axes of the group that it controls; by default all of them."""
