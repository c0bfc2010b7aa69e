"""Kernels of contact times and histories.

A row is a body, or a shape, of a world; worlds have `rows_per_world` each.
"""

import warp as wp

__all__ = ["add_up", "join", "remember", "remember_matrix", "tell_contact"]


@wp.kernel
def tell_contact(
    net_force: wp.array[wp.vec3],
    threshold: float,
    rows_per_world: int,
    intervals: wp.array[float],
    lasting: wp.array[wp.float64],
    in_contact: wp.array[wp.bool],
    air_time: wp.array[float],
    contact_time: wp.array[float],
    last_air_time: wp.array[float],
    last_contact_time: wp.array[float],
):
    """In contact = |force| > threshold; one of the two times grows; the other is kept as the last, then zero.

    `lasting` is the one that grows, in double precision: the sum of many short intervals.
    """
    row = wp.tid()
    is_touching = wp.length_sq(net_force[row]) > threshold * threshold
    in_contact[row] = is_touching
    if is_touching:
        if air_time[row] > 0.0:
            last_air_time[row] = air_time[row]
            lasting[row] = wp.float64(0.0)
    elif contact_time[row] > 0.0:
        last_contact_time[row] = contact_time[row]
        lasting[row] = wp.float64(0.0)
    lasting[row] += wp.float64(intervals[row // rows_per_world])
    time = float(lasting[row])
    contact_time[row] = wp.where(is_touching, time, 0.0)
    air_time[row] = wp.where(is_touching, 0.0, time)


@wp.kernel
def remember(net_force: wp.array[wp.vec3], history: wp.array2d[wp.vec3]):
    """Shift the earlier forces by one place, drop the oldest, and put the new force first."""
    row = wp.tid()
    for older in range(history.shape[1] - 1):
        place = history.shape[1] - 1 - older
        history[row, place] = history[row, place - 1]
    history[row, 0] = net_force[row]


@wp.kernel
def remember_matrix(matrix: wp.array2d[wp.vec3], history: wp.array3d[wp.vec3]):
    """Do the same with the forces of each partner."""
    row, partner = wp.tid()
    for older in range(history.shape[1] - 1):
        place = history.shape[1] - 1 - older
        history[row, place, partner] = history[row, place - 1, partner]
    history[row, 0, partner] = matrix[row, partner]


@wp.kernel
def add_up(matrix: wp.array2d[wp.vec3], total: wp.array[wp.vec3]):
    """Total = the sum of the columns."""
    row = wp.tid()
    found = wp.vec3()
    for column in range(matrix.shape[1]):
        found += matrix[row, column]
    total[row] = found


@wp.kernel
def join(left: wp.array2d[wp.vec3], right: wp.array2d[wp.vec3], joined: wp.array2d[wp.vec3]):
    """Copy the columns of `left`, then those of `right`."""
    row, column = wp.tid()
    if column < left.shape[1]:
        joined[row, column] = left[row, column]
    else:
        joined[row, column] = right[row, column - left.shape[1]]
