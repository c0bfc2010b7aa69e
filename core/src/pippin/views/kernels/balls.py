"""The kernels of `Balls`: quaternions in joint coordinates from and to rotation vectors in DOF order."""

import warp as wp

from .choice import Chosen, chosen_row

__all__ = ["BallPlaces", "gather_balls", "scatter_balls"]


@wp.struct
class BallPlaces:
    """Where the ball joints of each row are."""

    coord_of: wp.array(dtype=int)
    """First of the four coordinates of each ball joint, row by row, shape [rows * count]; -1 is padding."""

    slot_of: wp.array(dtype=int)
    """Position of its first DOF in dense rows of values, same shape."""

    count: int
    """Ball joints of a row."""

    width: int
    """Values of a row."""


@wp.kernel
def gather_balls(joint_q: wp.array[float], places: BallPlaces, values: wp.array[float]):
    """values[slot .. slot + 2] = rotation vector of ball joint i."""
    i = wp.tid()
    q = places.coord_of[i]
    if q < 0:
        return
    turn = wp.quat(joint_q[q], joint_q[q + 1], joint_q[q + 2], joint_q[q + 3])
    # q and -q are one rotation; the one with w >= 0 is the shorter way, at most half a turn.
    if turn[3] < 0.0:
        turn = -turn
    sine = wp.length(wp.vec3(turn[0], turn[1], turn[2]))
    factor = 2.0  # the limit of angle / sin(angle / 2) for small angles
    if sine > 1.0e-6:
        factor = 2.0 * wp.atan2(sine, turn[3]) / sine
    for k in range(3):
        values[places.slot_of[i] + k] = factor * turn[k]


@wp.kernel
def scatter_balls(
    values: wp.array[float], places: BallPlaces, chosen: Chosen, faults: wp.array[int], joint_q: wp.array[float]
):
    """Write the quaternions of the ball joints of the chosen rows, from rotation vectors."""
    i = wp.tid()
    position = i // places.count
    # `scatter` runs beside this kernel over the same rows, and counts the faults.
    row = chosen_row(position, places.coord_of.shape[0] // places.count, chosen, False, faults)
    if row < 0:
        return
    ball = row * places.count + i - position * places.count
    q = places.coord_of[ball]
    if q < 0:
        return
    slot = places.slot_of[ball]
    # Slots are counted in the rows of the view; compact data has the row at its position among the chosen ones.
    if chosen.is_compact:
        slot += (position - row) * places.width
    vector = wp.vec3(values[slot], values[slot + 1], values[slot + 2])
    angle = wp.length(vector)
    factor = 0.5  # the limit of sin(angle / 2) / angle for small angles
    if angle > 1.0e-6:
        factor = wp.sin(0.5 * angle) / angle
    for k in range(3):
        joint_q[q + k] = factor * vector[k]
    joint_q[q + 3] = wp.cos(0.5 * angle)
