"""Kernels of events that change the model or the parameters of actuators."""

import warp as wp

from pippin_task import random_state


@wp.func
def draw_value(state: wp.uint32, column: int, scale: wp.vec2, add: wp.vec2, is_log: int, built: float):
    """Return scale × the built value + a number: both are uniform, or their logarithms are, whose ranges are given."""
    of_column = wp.rand_init(wp.int32(state), column)
    factor = wp.randf(of_column, scale[0], scale[1])
    number = wp.randf(of_column, add[0], add[1])
    if is_log != 0:
        factor = wp.exp(factor)
        number = wp.exp(number)
    return built * factor + number


@wp.kernel
def vary(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    indices: wp.array2d[int],
    scale: wp.vec2,
    add: wp.vec2,
    stride: int,
    is_log: int,
    built: wp.array[float],
    values: wp.array[float],
):
    """Draw numbers of the model around the built ones."""
    world, i = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        index = indices[world, i]
        values[index] = draw_value(state, i * stride, scale, add, is_log, built[index])


@wp.kernel
def vary_masses(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    bodies: wp.array2d[int],
    scale: wp.vec2,
    add: wp.vec2,
    stride: int,
    is_log: int,
    built_mass: wp.array[float],
    built_inv_mass: wp.array[float],
    built_inertia: wp.array[wp.mat33],
    built_inv_inertia: wp.array[wp.mat33],
    mass: wp.array[float],
    inv_mass: wp.array[float],
    inertia: wp.array[wp.mat33],
    inv_inertia: wp.array[wp.mat33],
):
    """Draw masses around the built ones; the inertia is scaled as the mass is."""
    world, i = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        body = bodies[world, i]
        drawn = draw_value(state, i * stride, scale, add, is_log, built_mass[body])
        ratio = drawn / built_mass[body]
        mass[body] = drawn
        inv_mass[body] = built_inv_mass[body] / ratio
        inertia[body] = built_inertia[body] * ratio
        inv_inertia[body] = built_inv_inertia[body] / ratio


@wp.kernel
def move(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    indices: wp.array2d[int],
    low: wp.vec3,
    high: wp.vec3,
    built: wp.array[wp.vec3],
    values: wp.array[wp.vec3],
):
    """Draw vectors around the built ones."""
    world, i = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        state = wp.rand_init(wp.int32(state), i)
        moved = wp.vec3(
            wp.randf(state, low[0], high[0]), wp.randf(state, low[1], high[1]), wp.randf(state, low[2], high[2])
        )
        values[indices[world, i]] = built[indices[world, i]] + moved


@wp.kernel
def vary_parameters(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    scale: wp.vec2,
    add: wp.vec2,
    stride: int,
    is_log: int,
    built: wp.array2d[float],
    values: wp.array2d[float],
):
    """Draw numbers of each joint around the built ones."""
    world, i = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        values[world, i] = draw_value(state, i * stride, scale, add, is_log, built[world, i])
