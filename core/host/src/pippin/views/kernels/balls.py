"""The kernels of `Balls`: conversion between quaternions in joint coordinates and rotation vectors in DOF order."""

import warp as wp

from .rows import INVALID, SelectedRows, fault, selected_row
from .rules import is_finite


@wp.struct
class BallJoints:
    """Positions of the ball joints of each row."""

    coord_of: wp.array(dtype=int)
    """First of the four coordinates of each ball joint, row by row, shape [rows * count]; -1 is padding."""

    slot_of: wp.array(dtype=int)
    """Position of the first DOF of each ball joint in dense rows of values, same shape."""

    count: int
    """Number of ball joints of a row."""

    width: int
    """Number of values of a row."""


@wp.func
def read_turn(i: int, joint_q: wp.array[float], balls: BallJoints, values: wp.array[float]):
    """Write the rotation vector of ball joint i into the values."""
    q = balls.coord_of[i]
    turn = wp.quat(joint_q[q], joint_q[q + 1], joint_q[q + 2], joint_q[q + 3])
    # q and -q are the same rotation; the sign with w >= 0 gives the shorter way, at most half a turn.
    if turn[3] < 0.0:
        turn = -turn
    sine = wp.length(wp.vec3(turn[0], turn[1], turn[2]))
    factor = 2.0  # the limit of angle / sin(angle / 2) for small angles
    if sine > 1.0e-6:
        factor = 2.0 * wp.atan2(sine, turn[3]) / sine
    for k in range(3):
        values[balls.slot_of[i] + k] = factor * turn[k]


@wp.func
def put_turn(vector: wp.vec3, q: int, joint_q: wp.array[float]):
    """Write the quaternion of a rotation vector into four coordinates."""
    angle = wp.length(vector)
    factor = 0.5  # the limit of sin(angle / 2) / angle for small angles
    if angle > 1.0e-6:
        factor = wp.sin(0.5 * angle) / angle
    for k in range(3):
        joint_q[q + k] = factor * vector[k]
    joint_q[q + 3] = wp.cos(0.5 * angle)


@wp.kernel
def gather_balls(
    count: int, row_step: int, column_step: int, joint_q: wp.array[float], balls: BallJoints, values: wp.array[float]
):
    """values[slot .. slot + 2] = rotation vector of ball joint i."""
    for i in range(wp.tid(), count, row_step):
        if balls.coord_of[i] >= 0:
            read_turn(i, joint_q, balls, values)


@wp.kernel
def scatter_balls(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[float],
    balls: BallJoints,
    selected: SelectedRows,
    faults: wp.array[int],
    joint_q: wp.array[float],
):
    """Write the quaternions of the ball joints of the selected rows, from rotation vectors that are finite."""
    for i in range(wp.tid(), count, row_step):
        position = i // balls.count
        # `scatter_numbers` also runs over the same rows, and counts the indices that are out of range.
        row, at = selected_row(position, balls.coord_of.shape[0] // balls.count, selected, False, faults)
        if row >= 0:
            ball = row * balls.count + i - position * balls.count
            q = balls.coord_of[ball]
            if q >= 0:
                # Slots count in rows of the view; compact data has other rows.
                slot = balls.slot_of[ball] + (at - row) * balls.width
                vector = wp.vec3(values[slot], values[slot + 1], values[slot + 2])
                if is_finite(vector):
                    put_turn(vector, q, joint_q)
                else:
                    fault(faults, INVALID, row)
