"""The build of a simulation: from a configuration to a model, a solver and bound components."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .poses import ScenePoses, build_poses

__all__ = ["ScenePoses", "build_poses"]

__getattr__ = late(__name__, {"ScenePoses": ".poses", "build_poses": ".poses"})
