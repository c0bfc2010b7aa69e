"""Kernels over MuJoCo Warp's models: springs of limits, weights of sliding bodies, controls, and slippery contacts."""

from typing import Any

import warp as wp

__all__ = [
    "clamp_controls",
    "find_most_friction",
    "weigh_sliders",
    "write_limit_springs",
    "write_sliding_dimensions",
]

_vec5: Any = wp.types.vector(5, float)


@wp.kernel
def write_limit_springs(
    dof_of_joint: wp.array2d[wp.int32],
    stiffness: wp.array[float],
    damping: wp.array[float],
    mode: wp.array[wp.int32],
    first_dof: wp.array[wp.int32],
    inverse_mass: wp.array2d[float],
    dt: float,
    solref: wp.array2d[wp.vec2],
    solimp: wp.array2d[_vec5],
):
    """Write the spring of each limit whose stiffness and damping are Newton's, not a file's own `solreflimit`."""
    world, joint = wp.tid()
    dof = dof_of_joint[world, joint]
    if dof < 0:
        return
    if mode:  # noqa: SIM102 (Warp evaluates both sides of `and`)
        if mode[dof] != 0:
            return
    rate = inverse_mass[world, first_dof[joint]]
    ke, kd = stiffness[dof], damping[dof]
    # A spring that the step resolves, (ω dt)² < 2, acts at the start of the step, and half of the damping at its end.
    # What the step does not resolve acts at its end, just so much that a joint never leaves faster than it came.
    stretch, decay = dt * dt * ke * rate, dt * kd * rate
    lasting = dt * ke * (1.0 - 2.0 / wp.max(stretch, 2.0))
    late = wp.max(0.5, 1.0 - 1.0 / wp.max(decay, 1.0))
    implicit = dt * (late * kd + lasting) * rate
    share = 1.0 / (1.0 + implicit)
    solref[world, joint] = wp.vec2(-ke * rate * share, -(kd + lasting) * rate * share)
    impedance = wp.clamp(implicit * share, 1.0e-4, 0.9999)  # MuJoCo's bounds
    solimp[world, joint][0] = impedance
    solimp[world, joint][1] = impedance


@wp.kernel
def weigh_sliders(
    bodies: wp.array[int],
    dofs: wp.array[int],
    body_of_dof: wp.array[int],
    body_mass: wp.array2d[float],
    body_invweight0: wp.array2d[wp.vec2],
    dof_invweight0: wp.array2d[float],
):
    """Write the inverse weights of bodies that only slide, and of their degrees of freedom."""
    world, place = wp.tid()
    row = world % body_mass.shape[0]
    if place < bodies.shape[0]:
        body_invweight0[world, bodies[place]] = wp.vec2(1.0 / body_mass[row, bodies[place]], 0.0)
    if place < dofs.shape[0] and world < dof_invweight0.shape[0]:
        dof_invweight0[world, dofs[place]] = 1.0 / body_mass[row, body_of_dof[dofs[place]]]


@wp.kernel
def find_most_friction(friction: wp.array2d[Any], count: int, most: wp.array[float]):
    """Find the most sliding friction of a geom or pair in all worlds, of one or two directions."""
    world, row = wp.tid()
    wp.atomic_max(most, row, wp.max(friction[world, row][0], friction[world, row][count - 1]))


@wp.kernel
def write_sliding_dimensions(
    stated: wp.array[int],
    most: wp.array[float],
    count: int,
    least: float,
    dimensions: wp.array[int],
    friction: wp.array2d[Any],
):
    """Leave out the friction of contacts that have next to none in each world; else it is at least the least one."""
    world, row = wp.tid()
    if stated[row] == 3 and most[row] < least:
        dimensions[row] = 1
        return
    dimensions[row] = stated[row]
    if stated[row] > 1:
        for direction in range(count):
            friction[world, row][direction] = wp.max(friction[world, row][direction], least)


@wp.kernel
def clamp_controls(is_limited: wp.array[bool], bounds: wp.array2d[wp.vec2], ctrl: wp.array2d[float]):
    """Clamp limited controls to their ranges, shape [1 or worlds, controls]."""
    world, control = wp.tid()
    if is_limited[control]:
        low_high = bounds[world % bounds.shape[0], control]
        ctrl[world, control] = wp.clamp(ctrl[world, control], low_high[0], low_high[1])
