"""Helpers for solver plugins: contact sources, capacities, features, and fields of configurations."""

from pippin.support.features import FEATURES, RIGID_CHANGES, RIGID_TREES, Feature

from .ball_limits import ball_limits
from .capacities import Capacity
from .contact_source import ContactSource
from .fields import deterministic_mode, inherited, number
from .sliders import weigh_sliders
from .sub_solver import SubSolver

__all__ = [
    "FEATURES",
    "RIGID_CHANGES",
    "RIGID_TREES",
    "Capacity",
    "ContactSource",
    "Feature",
    "SubSolver",
    "ball_limits",
    "deterministic_mode",
    "inherited",
    "number",
    "weigh_sliders",
]
