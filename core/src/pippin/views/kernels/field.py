"""The kernels of `Field`: they read one quantity of all rows, and write it in the chosen ones.

`gather_*` leaves the values of padding, index -1, as they are. `scatter*` takes the rows as `place_of` finds them.
"""

import warp as wp

from .choice import Chosen
from .marks import Marks
from .places import Places, place_of

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
    "scatter_masses",
    "scatter_positions",
]


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
    values: wp.array[float],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    target: wp.array[float],
):
    """target[element] = value."""
    element, at = place_of(wp.tid(), places, chosen, faults, marks)
    if element >= 0:
        target[element] = values[at]


@wp.kernel
def scatter_flags(
    values: wp.array[wp.uint8],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    target: wp.array[float],
):
    """target[element] = 1 if the value is not zero, else 0."""
    element, at = place_of(wp.tid(), places, chosen, faults, marks)
    if element >= 0:
        target[element] = wp.where(values[at] != wp.uint8(0), 1.0, 0.0)


@wp.kernel
def scatter_positions(
    values: wp.array[wp.transform],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    target: wp.array[wp.vec3],
):
    """target[element] = position of the pose; a pose with a rotation is counted in faults[1]."""
    element, at = place_of(wp.tid(), places, chosen, faults, marks)
    if element < 0:
        return
    pose = values[at]
    turn = wp.transform_get_rotation(pose)
    if wp.length(wp.vec3(turn[0], turn[1], turn[2])) > 1.0e-6:
        wp.atomic_add(faults, 1, 1)
    target[element] = wp.transform_get_translation(pose)


@wp.kernel
def scatter_masses(
    values: wp.array[float],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    mass: wp.array[float],
    inverse: wp.array[float],
):
    """mass[element] = value, with its inverse; a mass of 0 has the inverse 0: nothing moves the body."""
    element, at = place_of(wp.tid(), places, chosen, faults, marks)
    if element >= 0:
        value = values[at]
        mass[element] = value
        inverse[element] = wp.where(value > 0.0, 1.0 / value, 0.0)


@wp.kernel
def scatter_inertias(
    values: wp.array[wp.mat33],
    places: Places,
    chosen: Chosen,
    faults: wp.array[int],
    marks: Marks,
    inertia: wp.array[wp.mat33],
    inverse: wp.array[wp.mat33],
):
    """inertia[element] = value, with its inverse; a singular inertia has the inverse 0."""
    element, at = place_of(wp.tid(), places, chosen, faults, marks)
    if element < 0:
        return
    value = values[at]
    inertia[element] = value
    inverted = wp.mat33(0.0)
    if wp.determinant(value) != 0.0:
        inverted = wp.inverse(value)
    inverse[element] = inverted
