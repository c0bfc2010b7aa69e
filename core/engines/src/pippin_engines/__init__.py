"""Engines in this process, or in a Python environment of their own, for solvers: `pippin env`."""

from typing import TYPE_CHECKING

from pippin.late import late

from .source import EngineSource

if TYPE_CHECKING:
    from .engines import EngineArrays, EngineProcess, RunningEngine, start_engine
    from .solver import EngineSolver, EngineWorlds, TreeWorlds

__all__ = [
    "EngineArrays",
    "EngineProcess",
    "EngineSolver",
    "EngineSource",
    "EngineWorlds",
    "RunningEngine",
    "TreeWorlds",
    "start_engine",
]

__getattr__ = late(__name__)
