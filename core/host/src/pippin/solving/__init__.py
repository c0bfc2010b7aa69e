"""Helpers for solver plugins: contact sources, capacities, features, and fields of configurations."""

from typing import TYPE_CHECKING

from pippin.late import late
from pippin.support.features import FEATURES, RIGID_TREES, Feature

from .contact_source import Capacity, ContactSource
from .engine_memory import EngineMemory
from .tables import SubSolver, deterministic_mode, inherited, number

if TYPE_CHECKING:
    from .ball_efforts import BallEfforts
    from .conversion import LoopTies, complete_conversion, slippery_shapes
    from .mapping import EngineFrames, JointMap
    from .soft_joints import JointRows, soft_joint_notes

__all__ = [
    "FEATURES",
    "RIGID_TREES",
    "BallEfforts",
    "Capacity",
    "ContactSource",
    "EngineFrames",
    "EngineMemory",
    "Feature",
    "JointMap",
    "JointRows",
    "LoopTies",
    "SubSolver",
    "complete_conversion",
    "deterministic_mode",
    "inherited",
    "number",
    "slippery_shapes",
    "soft_joint_notes",
]

__getattr__ = late(__name__)
