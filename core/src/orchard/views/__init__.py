"""Batched views: articulations, bodies and contacts of all worlds as dense arrays."""

from .articulations import ArticulationView
from .errors import RowError, ViewError
from .metatype import ArticulationMetatype, DofType
from .quantities import ARTICULATION, RIGID_BODY, Quantity
from .rigid_bodies import RigidBodyView
from .selection import SelectionError
from .simulation_view import SimulationView

__all__ = [
    "ARTICULATION",
    "RIGID_BODY",
    "ArticulationMetatype",
    "ArticulationView",
    "DofType",
    "Quantity",
    "RigidBodyView",
    "RowError",
    "SelectionError",
    "SimulationView",
    "ViewError",
]
