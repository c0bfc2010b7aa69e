"""The room of solver authors: contact sources, capacities, features, and fields of configurations."""

from .capacities import Capacity
from .contact_source import ContactSource
from .determinism import deterministic_mode
from .features import FEATURES, RIGID_CHANGES, RIGID_TREES, Feature
from .fields import inherited, number

__all__ = [
    "FEATURES",
    "RIGID_CHANGES",
    "RIGID_TREES",
    "Capacity",
    "ContactSource",
    "Feature",
    "deterministic_mode",
    "inherited",
    "number",
]
