"""Objects of a scene: what `[[scene.objects]]` adds beside the robots of files.

Each kind of object is a plugin, which derives from `SceneObject`, with settings that derive from `ObjectConfig`.
"""

from pippin.config.geometry import PinConfig
from pippin.config.joints import JointConfig

from .scene_object import ObjectConfig, ObjectPose, RepeatConfig, SceneObject
from .tables import read_table

__all__ = ["JointConfig", "ObjectConfig", "ObjectPose", "PinConfig", "RepeatConfig", "SceneObject", "read_table"]
