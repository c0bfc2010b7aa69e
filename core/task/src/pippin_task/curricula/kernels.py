"""Kernels of curricula."""

import warp as wp

from pippin_task.draws import MaskedDraws, state_in


@wp.kernel
def set_numbers(
    step_counter: wp.array[wp.int64],
    steps: wp.array[wp.int64],
    table: wp.array2d[float],
    interpolates: int,
    first: int,
    target: wp.array[float],
    value: wp.array2d[float],
):
    """Write the numbers of the present stage, row `stage` of the table, or those between it and the next row."""
    world, i = wp.tid()
    now = step_counter[0]
    row = wp.int32(0)
    for stage in range(1, steps.shape[0]):
        if now >= steps[stage]:
            row = stage
    number = table[row, i]
    if interpolates > 0 and row + 1 < steps.shape[0]:
        part = float(now - steps[row]) / float(steps[row + 1] - steps[row])
        number += part * (table[row + 1, i] - number)
    value[world, first + i] = number
    if world == 0:
        target[i] = number


@wp.kernel
def draw_levels(draws: MaskedDraws, low: int, high: int, levels: wp.array[int], value: wp.array2d[float]):
    """Draw a level from low to high, both included."""
    world = wp.tid()
    levels[world] = wp.randi(state_in(draws, world), low, high + 1)
    value[world, 0] = float(levels[world])


@wp.kernel
def change_levels(
    draws: MaskedDraws,
    body_q: wp.array[wp.transform],
    bodies: wp.array[int],
    places: wp.array[wp.vec3],
    command: wp.array2d[float],
    length: wp.array[int],
    control_dt: float,
    episode_length: float,
    far: float,
    down: float,
    level_count: int,
    levels: wp.array[int],
    value: wp.array2d[float],
):
    """Change the level of worlds whose episode ended: by one, or to a random one above the last."""
    world = wp.tid()
    if not draws.world_mask[world]:
        return
    away = wp.transform_get_translation(body_q[bodies[world]]) - places[world]
    distance = wp.length(wp.vec2(away[0], away[1]))
    least = down * far
    if command.shape[1] > 0:
        time = wp.where(episode_length > 0.0, episode_length, control_dt * float(length[world]))
        least = down * time * wp.length(wp.vec2(command[world, 0], command[world, 1]))
    level = levels[world]
    if distance > far:
        level += 1
    elif not (distance >= least):
        level = wp.max(level - 1, 0)
    if level >= level_count:
        level = wp.randi(state_in(draws, world), 0, level_count)
    levels[world] = level
    value[world, 0] = float(level)
