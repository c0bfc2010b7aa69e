"""Helpers for solver plugins: contact sources, capacities, features, and fields of configurations."""

from typing import TYPE_CHECKING

from pippin.late import late
from pippin.support.features import FEATURES, RIGID_TREES, Feature

from .capacities import Capacity
from .contact_source import ContactSource
from .fields import deterministic_mode, inherited, number
from .sub_solver import SubSolver

if TYPE_CHECKING:
    from .conversion import complete_conversion
    from .loops import LoopTies

__all__ = [
    "FEATURES",
    "RIGID_TREES",
    "Capacity",
    "ContactSource",
    "Feature",
    "LoopTies",
    "SubSolver",
    "complete_conversion",
    "deterministic_mode",
    "inherited",
    "number",
]

__getattr__ = late(__name__)
