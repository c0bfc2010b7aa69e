"""Kernels of events that change the material of matter."""

import warp as wp

from pippin_task import random_state

from .model import draw_value


@wp.kernel
def vary_elements(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    elements: wp.array[int],
    worlds: wp.array[int],
    numbers: wp.array[int],
    column: int,
    scale: wp.vec2,
    add: wp.vec2,
    stride: int,
    is_log: int,
    built: wp.array2d[float],
    values: wp.array2d[float],
):
    """Draw a number of the elements of objects around the built ones; all elements of an object take one draw."""
    i = wp.tid()
    world = worlds[i]
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        element = elements[i]
        values[element, column] = draw_value(state, numbers[i] * stride, scale, add, is_log, built[element, column])


@wp.kernel
def vary_particle_masses(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    particles: wp.array[int],
    worlds: wp.array[int],
    numbers: wp.array[int],
    scale: wp.vec2,
    add: wp.vec2,
    stride: int,
    is_log: int,
    built_mass: wp.array[float],
    built_inv_mass: wp.array[float],
    mass: wp.array[float],
    inv_mass: wp.array[float],
):
    """Draw masses of particles around the built ones; all particles of an object take one draw."""
    i = wp.tid()
    world = worlds[i]
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        particle = particles[i]
        drawn = draw_value(state, numbers[i] * stride, scale, add, is_log, built_mass[particle])
        mass[particle] = drawn
        inv_mass[particle] = built_inv_mass[particle] * built_mass[particle] / drawn
