"""The kernel of `Wrenches`: it adds forces and torques on bodies."""

import warp as wp

from .choice import Chosen
from .marks import Marks
from .places import Places, place_of

__all__ = ["Push", "add_wrenches"]


@wp.struct
class Push:
    """Forces [N], torques [N·m] and the points where the forces act [m]; a null array is left out."""

    forces: wp.array(dtype=wp.vec3)
    torques: wp.array(dtype=wp.vec3)

    positions: wp.array(dtype=wp.vec3)
    """By default, the centres of mass."""

    is_in_body_frame: bool
    """Whether all three are in the frame of each body, instead of the world's."""


@wp.kernel
def add_wrenches(
    push: Push,
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    body_q: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_f: wp.array[wp.spatial_vector],
):
    """body_f += (force, torque + (position − centre of mass) × force), in the world, in the chosen rows."""
    body, at = place_of(wp.tid(), places, chosen, faults, Marks())
    if body < 0:
        return
    pose = body_q[body]
    force = wp.vec3()
    torque = wp.vec3()
    if push.forces:
        force = push.forces[at]
    if push.torques:
        torque = push.torques[at]
    if push.is_in_body_frame:
        force = wp.transform_vector(pose, force)
        torque = wp.transform_vector(pose, torque)
    if push.positions:
        point = push.positions[at]
        if push.is_in_body_frame:
            point = wp.transform_point(pose, point)
        # Newton's body_f acts at the centre of mass, so a force beside it also turns the body.
        torque += wp.cross(point - wp.transform_point(pose, body_com[body]), force)
    # Two rows, or two calls on other streams, may push the same body.
    wp.atomic_add(body_f, body, wp.spatial_vector(force, torque))
