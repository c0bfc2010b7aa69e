"""Helpers for solver plugins: contact sources, capacities, features, and fields of configurations."""

from pippin.support.features import FEATURES, RIGID_CHANGES, RIGID_TREES, Feature

from .capacities import Capacity
from .contact_source import ContactSource
from .conversion import complete_conversion
from .fields import deterministic_mode, inherited, number
from .loops import LoopTies
from .sub_solver import SubSolver

__all__ = [
    "FEATURES",
    "RIGID_CHANGES",
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
