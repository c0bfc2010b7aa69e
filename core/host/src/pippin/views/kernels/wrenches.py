"""The kernel of `Wrenches`: it adds forces and torques on bodies."""

import warp as wp

from .gather_scatter import scatter
from .rows import IndexMap
from .rules import is_finite

Wrenches, Poses = wp.array[wp.spatial_vector], wp.array[wp.transform]


@wp.struct
class WrenchData:
    """Forces [N], torques [N·m] and the points where the forces act [m]; a null array is left out."""

    forces: wp.array(dtype=wp.vec3)
    torques: wp.array(dtype=wp.vec3)

    positions: wp.array(dtype=wp.vec3)
    """Points where the forces act; if null, the centres of mass."""

    body_com: wp.array(dtype=wp.vec3)
    """Centre of mass of each body in its frame."""

    is_in_body_frame: bool
    """Whether forces, torques and points are in the frame of each body, instead of the world's."""


@scatter
@wp.func
def add_wrenches(data: WrenchData, at: int, index: IndexMap, place: int, body_f: Wrenches, body_q: Poses):
    """body_f += (force, torque + (position − centre of mass) × force), in the world.

    A body whose numbers are not all finite gets nothing.
    """
    body = index.elements[place]
    pose = body_q[body]
    force = wp.vec3()
    torque = wp.vec3()
    point = wp.vec3()
    if data.forces:
        force = data.forces[at]
    if data.torques:
        torque = data.torques[at]
    if data.positions:
        point = data.positions[at]
    is_good = is_finite(force) and is_finite(torque) and is_finite(point)
    if is_good:
        if data.is_in_body_frame:
            force = wp.transform_vector(pose, force)
            torque = wp.transform_vector(pose, torque)
            point = wp.transform_point(pose, point)
        if data.positions:
            # Newton's body_f acts at the centre of mass: a force at another point also adds a torque.
            torque += wp.cross(point - wp.transform_point(pose, data.body_com[body]), force)
        # Two rows, or two calls on other streams, may push the same body.
        wp.atomic_add(body_f, body, wp.spatial_vector(force, torque))
    return is_good
