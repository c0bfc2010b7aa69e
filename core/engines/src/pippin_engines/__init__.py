"""Engines in this process, or in a Python environment of their own, for solvers: `pippin env`."""

from typing import TYPE_CHECKING

from pippin.late import late

from .source import EngineSource

if TYPE_CHECKING:
    from .contacts import EngineContacts
    from .engines import EngineArguments, EngineArrays, EngineProcess, RunningEngine, start_engine
    from .first_world import FAR, FirstWorld, WorldJoint, WorldShape
    from .solver import EngineSolver, EngineWorlds, TreeWorlds

__all__ = [
    "FAR",
    "EngineArguments",
    "EngineArrays",
    "EngineContacts",
    "EngineProcess",
    "EngineSolver",
    "EngineSource",
    "EngineWorlds",
    "FirstWorld",
    "RunningEngine",
    "TreeWorlds",
    "WorldJoint",
    "WorldShape",
    "start_engine",
]

__getattr__ = late(__name__)
