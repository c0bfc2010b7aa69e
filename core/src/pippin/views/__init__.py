"""Batched views: articulations, bodies and contacts of all worlds as dense arrays."""

from .articulations import ArticulationView
from .contacts.data import ContactData, FrictionData, RawContactData
from .contacts.view import RigidContactView
from .errors import RowError, ViewError
from .metatype import ArticulationMetatype, DofType
from .object_type import ObjectType
from .quantities import ARTICULATION, RIGID_BODY, Quantity
from .rigid_bodies import RigidBodyView
from .selection import SelectionError
from .simulation_view import SimulationView

__all__ = [
    "ARTICULATION",
    "RIGID_BODY",
    "ArticulationMetatype",
    "ArticulationView",
    "ContactData",
    "DofType",
    "FrictionData",
    "ObjectType",
    "Quantity",
    "RawContactData",
    "RigidBodyView",
    "RigidContactView",
    "RowError",
    "SelectionError",
    "SimulationView",
    "ViewError",
]
