"""Objects of a scene: what `[[scene.objects]]` adds beside the robots of files.

Each kind of object is a plugin, which derives from `SceneObject`, with settings that derive from `ObjectConfig`.
"""

from .object_config import ObjectConfig, RepeatConfig
from .scene_object import Place, SceneObject
from .tables import read_table

__all__ = ["ObjectConfig", "Place", "RepeatConfig", "SceneObject", "read_table"]
