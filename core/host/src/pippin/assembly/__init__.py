"""The build of a simulation: from a configuration to a model, a solver and bound components."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from pippin.state.start_pose import Overlap, limit_notes, overlaps

    from .poses import ScenePoses, build_poses, first_world, lacking_features, scene_builder

__all__ = [
    "Overlap",
    "ScenePoses",
    "build_poses",
    "first_world",
    "lacking_features",
    "limit_notes",
    "overlaps",
    "scene_builder",
]

__getattr__ = late(__name__)
