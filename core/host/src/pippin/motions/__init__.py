"""Prescribed motion: bodies, particles, joints and targets that follow functions of time, and forces that do.

Each kind of motion is a plugin, which derives from `Motion`, with settings that derive from `MotionConfig`.
A `Clip` is a recorded motion of a whole robot, which a task follows.
"""

from typing import TYPE_CHECKING

from pippin.config.geometry import SelectionConfig
from pippin.late import late

from .configs import SampledConfig
from .motion_config import MotionConfig, undriven

if TYPE_CHECKING:
    from .clip import Clip
    from .functions import Sampled
    from .motion import Motion

__all__ = ["Clip", "Motion", "MotionConfig", "Sampled", "SampledConfig", "SelectionConfig", "undriven"]

__getattr__ = late(__name__)
