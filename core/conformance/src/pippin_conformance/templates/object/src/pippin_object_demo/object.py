"""Dumbbells, as objects of Pippin."""

import warp as wp
from pippin.objects import SceneObject


class ObjectDemo(SceneObject):
    """The object `demo`: two balls on a bar along x."""

    def add_object(self, builder, place):
        """Add a body with three shapes; the host adds its joint."""
        body = builder.add_link(xform=place.pose, label=place.label)
        half = self.config.length / 2
        for name, x in (("left", -half), ("right", half)):
            at = wp.transform(wp.vec3(x, 0.0, 0.0), wp.quat_identity())
            builder.add_shape_sphere(body, xform=at, radius=self.config.radius, label=f"{place.label}/{name}")
        along = wp.transform(wp.vec3(), wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), wp.pi / 2))
        label = f"{place.label}/bar"
        builder.add_shape_cylinder(body, xform=along, radius=self.config.radius / 4, half_height=half, label=label)
