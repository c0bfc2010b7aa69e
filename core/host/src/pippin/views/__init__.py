"""Batched views: articulations, bodies, matter and contacts of all worlds as dense arrays.

The types here can be imported before a simulation exists. They import neither Newton nor Warp, because Pippin has to
decide before that import whether backward kernels are needed. The views themselves are imported at first use.
"""

from typing import TYPE_CHECKING

from pippin.late import late

from .contacts.data import ContactData, FrictionData, RawContactData
from .errors import RowError, ViewError
from .metatype import ArticulationMetatype, DofType, ObjectType
from .quantities import ARTICULATION, RIGID_BODY, ViewQuantity
from .selection import SelectionError

if TYPE_CHECKING:
    from .articulations import ArticulationView
    from .body_rows import RigidBodyView
    from .contacts.view import RigidContactView
    from .matter import CableView, ParticleView
    from .memory import Array
    from .simulation_view import SimulationView

__all__ = [
    "ARTICULATION",
    "RIGID_BODY",
    "Array",
    "ArticulationMetatype",
    "ArticulationView",
    "CableView",
    "ContactData",
    "DofType",
    "FrictionData",
    "ObjectType",
    "ParticleView",
    "RawContactData",
    "RigidBodyView",
    "RigidContactView",
    "RowError",
    "SelectionError",
    "SimulationView",
    "ViewError",
    "ViewQuantity",
]

__getattr__ = late(__name__)
