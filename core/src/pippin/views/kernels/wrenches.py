"""The kernel of `Wrenches`: it adds forces and torques on bodies."""

import warp as wp

from .choice import Chosen
from .faults import INVALID, fault
from .marks import Marks
from .places import Places, row_of
from .rules import is_finite

__all__ = ["Push", "add_wrenches"]


@wp.struct
class Push:
    """Forces [N], torques [N·m] and the points where the forces act [m]; a null array is left out."""

    forces: wp.array(dtype=wp.vec3)
    torques: wp.array(dtype=wp.vec3)

    positions: wp.array(dtype=wp.vec3)
    """Points where the forces act; if null, the centres of mass."""

    is_in_body_frame: bool
    """Whether all three are in the frame of each body, instead of the world's."""


@wp.kernel
def add_wrenches(
    count: int,
    row_step: int,
    column_step: int,
    push: Push,
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    body_q: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_f: wp.array[wp.spatial_vector],
):
    """body_f += (force, torque + (position − centre of mass) × force), in the world, in the chosen rows.

    A body whose numbers are not all finite gets nothing, and is a fault.
    """
    first = wp.tid() // column_step
    first_column = wp.tid() - first * column_step
    for position in range(first, count, row_step):
        row, at = row_of(position, first_column == 0, places, chosen, faults, Marks())
        if row >= 0:
            for column in range(first_column, places.width, column_step):
                body = places.index[row * places.width + column]
                if body >= 0:
                    pose = body_q[body]
                    force = wp.vec3()
                    torque = wp.vec3()
                    point = wp.vec3()
                    given = at * places.width + column
                    if push.forces:
                        force = push.forces[given]
                    if push.torques:
                        torque = push.torques[given]
                    if push.positions:
                        point = push.positions[given]
                    if is_finite(force) and is_finite(torque) and is_finite(point):
                        if push.is_in_body_frame:
                            force = wp.transform_vector(pose, force)
                            torque = wp.transform_vector(pose, torque)
                            point = wp.transform_point(pose, point)
                        if push.positions:
                            # Newton's body_f acts at the centre of mass: a force at another point also adds a torque.
                            torque += wp.cross(point - wp.transform_point(pose, body_com[body]), force)
                        # Two rows, or two calls on other streams, may push the same body.
                        wp.atomic_add(body_f, body, wp.spatial_vector(force, torque))
                    else:
                        fault(faults, INVALID, row)
