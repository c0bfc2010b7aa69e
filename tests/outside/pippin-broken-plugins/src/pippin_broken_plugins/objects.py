"""An object that breaks a promise."""

import attrs
import newton
from pippin.objects import ObjectConfig, ObjectPose, SceneObject

__all__ = ["Same"]


@attrs.frozen(kw_only=True)
class SameConfig(ObjectConfig):
    """Settings of `Same`."""

    implementation = "Same"


class Same(SceneObject):
    """Adds a ball of the same name for each copy."""

    def add_object(self, builder: newton.ModelBuilder, place: ObjectPose) -> None:
        """Add the ball."""
        ball = builder.add_link(xform=place.pose, label="ball")
        builder.add_shape_sphere(ball, radius=0.1, label=place.label)
