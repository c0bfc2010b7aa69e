"""Kernels that read elements of Newton's arrays into the rows of a view, and write them in the selected rows.

`gather` leaves the values of padding, index -1, as they are. `scatter` takes the rows as `row_of` finds them; see
`launching.PreparedLaunch` for its threads.

Each kernel is made for its types under its own name, because a replay of a graph on the CPU finds kernels by name.
"""

from inspect import get_annotations
from typing import Any

import warp as wp

from .rows import INVALID, DirtyFlags, IndexMap, SelectedRows, fault, row_of
from .rules import is_finite, is_inertia, is_interval, is_pose, is_position, is_twist, is_unit

Floats, Vectors, Matrices, Poses = wp.array[float], wp.array[wp.vec3], wp.array[wp.mat33], wp.array[wp.transform]


def _gather(dtype: Any) -> wp.Kernel:
    """Return the kernel that gathers elements of a type: values[i] = source[index[i]]."""

    def gather(source: wp.array(dtype=dtype), index: wp.array[int], values: wp.array(dtype=dtype)):
        i = wp.tid()
        k = index[i]
        if k >= 0:
            values[i] = source[k]

    return wp.Kernel(gather, key=f"gather_{dtype.__name__}")


GATHER = {dtype: _gather(dtype) for dtype in (wp.float32, wp.vec3, wp.mat33, wp.transform, wp.spatial_vector)}
"""The kernels that gather elements, by the type of an element."""


@wp.kernel
def gather_flags(source: wp.array[float], index: wp.array[int], values: wp.array[wp.uint8]):
    """values[i] = 1 if source[index[i]] is not zero, else 0."""
    i = wp.tid()
    k = index[i]
    if k >= 0:
        values[i] = wp.where(source[k] != 0.0, wp.uint8(1), wp.uint8(0))


def scatter(write: wp.Function) -> wp.Kernel:
    """Return the kernel that writes values into the elements of the selected rows.

    Args:
        write: Writes one value, and returns False if the value is not allowed. Such a value is a fault, and its element
            stays as it is. The arguments are the values, the position of the value, the index map, the position of the
            element in it, the array to write, and another array, which may be null.
    """
    values_type, _, _, _, target_type, other_type = get_annotations(write.func).values()

    def scatter_elements(
        count: int,
        row_step: int,
        column_step: int,
        values: values_type,
        index: IndexMap,
        selected: SelectedRows,
        faults: wp.array[int],
        flags: DirtyFlags,
        target: target_type,
        other: other_type,
    ):
        first = wp.tid() // column_step
        first_column = wp.tid() - first * column_step
        for position in range(first, count, row_step):
            row, at = row_of(position, first_column == 0, index, selected, faults, flags)
            if row >= 0:
                for column in range(first_column, index.width, column_step):
                    place = row * index.width + column
                    if index.elements[place] >= 0:  # noqa: SIM102 (Warp would evaluate both conditions)
                        if not write(values, at * index.width + column, index, place, target, other):
                            fault(faults, INVALID, row)

    return wp.Kernel(scatter_elements, key=f"{write.key}_kernel", module=wp.get_module(write.func.__module__))


@scatter
@wp.func
def scatter_numbers(values: Floats, at: int, index: IndexMap, place: int, target: Floats, other: Floats):
    """Write a number within the bounds; a number of a quaternion also needs three others that make a unit with it."""
    value = values[at]
    is_good = value >= index.low and value <= index.high
    if index.quaternion:
        k = index.quaternion[place]
        if k >= 0:
            is_good = is_unit(values[at - k], values[at - k + 1], values[at - k + 2], values[at - k + 3])
    if is_good:
        target[index.elements[place]] = value
    return is_good


def _scatter_whole(name: str, dtype: Any, is_allowed: wp.Function) -> wp.Kernel:
    """Return the kernel of a name that writes elements of several numbers as they are, if they are allowed."""

    def write(
        values: wp.array(dtype=dtype),
        at: int,
        index: IndexMap,
        place: int,
        target: wp.array(dtype=dtype),
        other: wp.array(dtype=dtype),
    ):
        value = values[at]
        is_good = is_allowed(value)
        if is_good:
            target[index.elements[place]] = value
        return is_good

    return scatter(wp.func(name=name)(write))


SCATTER = {
    3: _scatter_whole("scatter_vectors", wp.vec3, is_finite),
    6: _scatter_whole("scatter_twists", wp.spatial_vector, is_twist),
    7: _scatter_whole("scatter_transforms", wp.transform, is_pose),
}
"""The kernels that write elements of several numbers as they are, by their number."""


@scatter
@wp.func
def scatter_intervals(values: wp.array[wp.vec2], at: int, index: IndexMap, place: int, lower: Floats, upper: Floats):
    """Write the lowest and the highest number."""
    value = values[at]
    is_good = is_interval(value[0], value[1])
    if is_good:
        lower[index.elements[place]] = value[0]
        upper[index.elements[place]] = value[1]
    return is_good


@scatter
@wp.func
def scatter_flags(values: wp.array[wp.uint8], at: int, index: IndexMap, place: int, target: Floats, other: Floats):
    """Write 1 or 0."""
    value = values[at]
    is_good = value <= wp.uint8(1)
    if is_good:
        target[index.elements[place]] = float(value)
    return is_good


@scatter
@wp.func
def scatter_positions(values: Poses, at: int, index: IndexMap, place: int, target: Vectors, other: Vectors):
    """Write the position of a pose, which has no rotation."""
    pose = values[at]
    is_good = is_position(pose)
    if is_good:
        target[index.elements[place]] = wp.transform_get_translation(pose)
    return is_good


@scatter
@wp.func
def scatter_masses(values: Floats, at: int, index: IndexMap, place: int, target: Floats, inverse: Floats):
    """Write a mass with its inverse; a mass of 0 has the inverse 0: nothing moves the body."""
    value = values[at]
    is_good = value >= index.low and value <= index.high
    if is_good:
        target[index.elements[place]] = value
        inverse[index.elements[place]] = wp.where(value > 0.0, 1.0 / value, 0.0)
    return is_good


@scatter
@wp.func
def scatter_inertias(values: Matrices, at: int, index: IndexMap, place: int, target: Matrices, inverse: Matrices):
    """Write an inertia with its inverse; an inertia of 0 has the inverse 0: nothing turns the body."""
    value = values[at]
    is_good = is_inertia(value)
    if is_good:
        target[index.elements[place]] = value
        inverted = wp.mat33(0.0)
        if wp.determinant(value) != 0.0:
            inverted = wp.inverse(value)
        inverse[index.elements[place]] = inverted
    return is_good
