"""The kernels of `Field`: they read one quantity of all rows, and write it in the chosen rows.

`gather_*` leaves the values of padding, index -1, as they are. `scatter*` takes the rows as `row_of` finds them, see
`launching.PreparedLaunch` for its threads. A value that is not allowed is a fault, and its element stays as it is.
"""

import warp as wp

from .choice import Chosen
from .faults import INVALID, fault
from .marks import Marks
from .places import Places, row_of
from .rules import is_inertia, is_interval, is_position, is_unit

__all__ = [
    "gather_flags",
    "gather_matrices",
    "gather_numbers",
    "gather_poses",
    "gather_twists",
    "gather_vectors",
    "scatter",
    "scatter_flags",
    "scatter_inertias",
    "scatter_intervals",
    "scatter_masses",
    "scatter_positions",
]


@wp.func
def is_unit_at(values: wp.array[float], first: int):
    """Return whether four numbers from a position on are a quaternion of length 1."""
    return is_unit(values[first], values[first + 1], values[first + 2], values[first + 3])


@wp.kernel
def gather_numbers(source: wp.array[float], index: wp.array[int], values: wp.array[float]):
    """values[i] = source[index[i]]."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def gather_vectors(source: wp.array[wp.vec3], index: wp.array[int], values: wp.array[wp.vec3]):
    """values[i] = source[index[i]]."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def gather_matrices(source: wp.array[wp.mat33], index: wp.array[int], values: wp.array[wp.mat33]):
    """values[i] = source[index[i]]."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def gather_poses(source: wp.array[wp.transform], index: wp.array[int], values: wp.array[wp.transform]):
    """values[i] = source[index[i]]."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def gather_twists(source: wp.array[wp.spatial_vector], index: wp.array[int], values: wp.array[wp.spatial_vector]):
    """values[i] = source[index[i]]."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = source[k]


@wp.kernel
def gather_flags(source: wp.array[float], index: wp.array[int], values: wp.array[wp.uint8]):
    """values[i] = 1 if source[index[i]] is not zero, else 0."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = wp.where(source[k] != 0.0, wp.uint8(1), wp.uint8(0))


@wp.kernel
def scatter(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[float],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    target: wp.array[float],
):
    """target[element] = value."""
    first = wp.tid() // column_step
    first_column = wp.tid() - first * column_step
    for position in range(first, count, row_step):
        row, at = row_of(position, first_column == 0, places, chosen, faults, marks)
        if row >= 0:
            for column in range(first_column, places.width, column_step):
                element = places.index[row * places.width + column]
                if element >= 0:
                    value = values[at * places.width + column]
                    is_good = value >= places.low and value <= places.high
                    if places.quaternion:
                        k = places.quaternion[row * places.width + column]
                        if k >= 0:
                            is_good = is_unit_at(values, at * places.width + column - k)
                    if is_good:
                        target[element] = value
                    else:
                        fault(faults, INVALID, row)


@wp.kernel
def scatter_intervals(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[wp.vec2],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    lower: wp.array[float],
    upper: wp.array[float],
):
    """lower[element], upper[element] = value."""
    first = wp.tid() // column_step
    first_column = wp.tid() - first * column_step
    for position in range(first, count, row_step):
        row, at = row_of(position, first_column == 0, places, chosen, faults, marks)
        if row >= 0:
            for column in range(first_column, places.width, column_step):
                element = places.index[row * places.width + column]
                if element >= 0:
                    value = values[at * places.width + column]
                    if is_interval(value[0], value[1]):
                        lower[element] = value[0]
                        upper[element] = value[1]
                    else:
                        fault(faults, INVALID, row)


@wp.kernel
def scatter_flags(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[wp.uint8],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    target: wp.array[float],
):
    """target[element] = value, 1 or 0."""
    first = wp.tid() // column_step
    first_column = wp.tid() - first * column_step
    for position in range(first, count, row_step):
        row, at = row_of(position, first_column == 0, places, chosen, faults, marks)
        if row >= 0:
            for column in range(first_column, places.width, column_step):
                element = places.index[row * places.width + column]
                if element >= 0:
                    value = values[at * places.width + column]
                    if value <= wp.uint8(1):
                        target[element] = float(value)
                    else:
                        fault(faults, INVALID, row)


@wp.kernel
def scatter_positions(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[wp.transform],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    target: wp.array[wp.vec3],
):
    """target[element] = position of the pose, which has no rotation."""
    first = wp.tid() // column_step
    first_column = wp.tid() - first * column_step
    for position in range(first, count, row_step):
        row, at = row_of(position, first_column == 0, places, chosen, faults, marks)
        if row >= 0:
            for column in range(first_column, places.width, column_step):
                element = places.index[row * places.width + column]
                if element >= 0:
                    pose = values[at * places.width + column]
                    if is_position(pose):
                        target[element] = wp.transform_get_translation(pose)
                    else:
                        fault(faults, INVALID, row)


@wp.kernel
def scatter_masses(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[float],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    mass: wp.array[float],
    inverse: wp.array[float],
):
    """mass[element] = value, with its inverse; a mass of 0 has the inverse 0: nothing moves the body."""
    first = wp.tid() // column_step
    first_column = wp.tid() - first * column_step
    for position in range(first, count, row_step):
        row, at = row_of(position, first_column == 0, places, chosen, faults, marks)
        if row >= 0:
            for column in range(first_column, places.width, column_step):
                element = places.index[row * places.width + column]
                if element >= 0:
                    value = values[at * places.width + column]
                    if value >= places.low and value <= places.high:
                        mass[element] = value
                        inverse[element] = wp.where(value > 0.0, 1.0 / value, 0.0)
                    else:
                        fault(faults, INVALID, row)


@wp.kernel
def scatter_inertias(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[wp.mat33],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    inertia: wp.array[wp.mat33],
    inverse: wp.array[wp.mat33],
):
    """inertia[element] = value, with its inverse; an inertia of 0 has the inverse 0: nothing turns the body."""
    first = wp.tid() // column_step
    first_column = wp.tid() - first * column_step
    for position in range(first, count, row_step):
        row, at = row_of(position, first_column == 0, places, chosen, faults, marks)
        if row >= 0:
            for column in range(first_column, places.width, column_step):
                element = places.index[row * places.width + column]
                if element >= 0:
                    value = values[at * places.width + column]
                    if is_inertia(value):
                        inertia[element] = value
                        inverted = wp.mat33(0.0)
                        if wp.determinant(value) != 0.0:
                            inverted = wp.inverse(value)
                        inverse[element] = inverted
                    else:
                        fault(faults, INVALID, row)
