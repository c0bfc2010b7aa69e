"""Kernels of events that change the model or the parameters of actuators, around the built values."""

import warp as wp

from pippin_task.draws import MaskedDraws, state_in


@wp.struct
class VariationRanges:
    """Ranges of values around built ones: scale × the built value + a number."""

    scale: wp.vec2
    add: wp.vec2
    stride: int
    """Columns from the draws of one part to those of the next: 0 for one draw in a world, 1 for one of each part."""

    is_log: int
    """Whether the ranges are of logarithms, which are uniform."""


@wp.func
def varied(draws: MaskedDraws, world: int, part: int, ranges: VariationRanges, built: float):
    """Return a value of a part of a world around the built one."""
    state = wp.rand_init(wp.int32(state_in(draws, world)), part * ranges.stride)
    factor = wp.randf(state, ranges.scale[0], ranges.scale[1])
    number = wp.randf(state, ranges.add[0], ranges.add[1])
    if ranges.is_log != 0:
        factor = wp.exp(factor)
        number = wp.exp(number)
    return built * factor + number


@wp.kernel
def vary(
    draws: MaskedDraws,
    places: wp.array2d[int],
    ranges: VariationRanges,
    built: wp.array2d[float],
    values: wp.array2d[float],
):
    """Draw numbers, whose places are world, part, row and column; what is one part of a world takes one draw."""
    i = wp.tid()
    world = places[i, 0]
    if draws.world_mask[world]:
        row = places[i, 2]
        column = places[i, 3]
        values[row, column] = varied(draws, world, places[i, 1], ranges, built[row, column])


@wp.kernel
def vary_masses(
    draws: MaskedDraws,
    bodies: wp.array2d[int],
    ranges: VariationRanges,
    built_mass: wp.array[float],
    built_inv_mass: wp.array[float],
    built_inertia: wp.array[wp.mat33],
    built_inv_inertia: wp.array[wp.mat33],
    mass: wp.array[float],
    inv_mass: wp.array[float],
    inertia: wp.array[wp.mat33],
    inv_inertia: wp.array[wp.mat33],
):
    """Draw masses of bodies; the inertia is scaled as the mass is."""
    world, i = wp.tid()
    if draws.world_mask[world]:
        body = bodies[world, i]
        drawn = varied(draws, world, i, ranges, built_mass[body])
        ratio = drawn / built_mass[body]
        mass[body] = drawn
        inv_mass[body] = built_inv_mass[body] / ratio
        inertia[body] = built_inertia[body] * ratio
        inv_inertia[body] = built_inv_inertia[body] / ratio


@wp.kernel
def vary_particle_masses(
    draws: MaskedDraws,
    places: wp.array2d[int],
    ranges: VariationRanges,
    built_mass: wp.array[float],
    built_inv_mass: wp.array[float],
    mass: wp.array[float],
    inv_mass: wp.array[float],
):
    """Draw masses of particles, whose places are as for `vary`."""
    i = wp.tid()
    world = places[i, 0]
    if draws.world_mask[world]:
        particle = places[i, 2]
        drawn = varied(draws, world, places[i, 1], ranges, built_mass[particle])
        mass[particle] = drawn
        inv_mass[particle] = built_inv_mass[particle] * built_mass[particle] / drawn


@wp.kernel
def move(
    draws: MaskedDraws,
    indices: wp.array2d[int],
    low: wp.vec3,
    high: wp.vec3,
    built: wp.array[wp.vec3],
    values: wp.array[wp.vec3],
):
    """Draw vectors around the built ones."""
    world, i = wp.tid()
    if draws.world_mask[world]:
        state = wp.rand_init(wp.int32(state_in(draws, world)), i)
        moved = wp.vec3(
            wp.randf(state, low[0], high[0]), wp.randf(state, low[1], high[1]), wp.randf(state, low[2], high[2])
        )
        values[indices[world, i]] = built[indices[world, i]] + moved


@wp.kernel
def draw_variants(
    draws: MaskedDraws,
    bodies: wp.array2d[int],
    starts: wp.array[int],
    allowed: wp.array[int],
    chosen: wp.array[int],
):
    """Draw a variant of each body of the masked worlds, among those that are allowed to it."""
    world, i = wp.tid()
    if draws.world_mask[world]:
        state = wp.rand_init(wp.int32(state_in(draws, world)), i)
        chosen[bodies[world, i]] = allowed[wp.randi(state, starts[i], starts[i + 1])]


@wp.kernel
def take_variants(world_mask: wp.array[wp.bool], bodies: wp.array2d[int], built: wp.array[int], chosen: wp.array[int]):
    """Choose the variants that the bodies of the masked worlds had at first."""
    world, i = wp.tid()
    if world_mask[world]:
        chosen[bodies[world, i]] = built[bodies[world, i]]
