"""Kernels of tasks."""

import warp as wp
from pippin.state import random_state

BLOCK = wp.constant(16)
"""Numbers of a term of observations that a thread writes: on a CPU, most of the time of a thread is its call."""


@wp.kernel
def silence_policy(is_on: wp.array[wp.bool], action: wp.array2d[float]):
    """Set the action to zero while the policy is switched off."""
    world, number = wp.tid()
    if not is_on[0]:
        action[world, number] = 0.0


@wp.kernel
def explore(
    action: wp.array2d[float],
    deviation: wp.array[float],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    step: int,
):
    """Add normal noise to each number of an action, drawn by seed, global world and control step."""
    world, i = wp.tid()
    generator = random_state(key, seeds[world], first_world + world, step * action.shape[1] + i)
    action[world, i] = action[world, i] + deviation[i] * wp.randn(generator)


@wp.kernel
def hold_command(is_held: wp.array[wp.bool], kept: wp.array2d[float], value: wp.array2d[float]):
    """Put a command back while a user holds it, however it was drawn."""
    world, number = wp.tid()
    if is_held[0]:
        value[world, number] = kept[world, number]


@wp.kernel
def multiply(weight: float, factor: wp.array[float], value: wp.array[float]):
    """Multiply a number of each world by a weighted factor."""
    world = wp.tid()
    value[world] *= weight * factor[world]


@wp.kernel
def compose(
    values: wp.array2d[float],
    columns: wp.array[int],
    noise: wp.vec2,
    bounds: wp.vec2,
    scale: float,
    key: int,
    seeds: wp.array[int],
    first_world: int,
    count: wp.array[int],
    delays: wp.array[int],
    shown: int,
    readings: wp.array3d[float],
    world_mask: wp.array[wp.bool],
    is_new: wp.array[wp.bool],
    keeps: int,
    first: int,
    out: wp.array2d[float],
):
    """Write one term of a group of observations of the masked worlds, column `first` on: the latest `shown` readings
    that are late by the delay of the world, the oldest first.

    With `keeps`, the reading joins the others; in worlds that start an episode it replaces all. A thread writes a block
    of numbers.
    """
    world, block = wp.tid()
    if not world_mask[world]:
        return
    width = columns.shape[0]
    length = readings.shape[1]
    skipped = length - shown - delays[world]
    draw = random_state(key, seeds[world], first_world + world, count[world])
    for i in range(block * BLOCK, wp.min((block + 1) * BLOCK, width)):
        value = values[world, columns[i]]
        if noise[0] > 0.0 or noise[1] > 0.0:
            state = wp.rand_init(wp.int32(draw), i)
            value += wp.randf(state, -noise[0], noise[0])
            if noise[1] > 0.0:
                value += noise[1] * wp.randn(state)
        value = wp.clamp(value, bounds[0], bounds[1]) * scale
        for k in range(shown):
            past = value
            if skipped + k < length - 1 and not is_new[world]:
                past = readings[world, skipped + k + 1, i]
            out[world, first + k * width + i] = past
        if keeps > 0:
            for k in range(length):
                kept = value
                if k < length - 1 and not is_new[world]:
                    kept = readings[world, k + 1, i]
                readings[world, k, i] = kept


@wp.kernel
def draw_delays(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    low: int,
    high: int,
    delays: wp.array[int],
):
    """Draw a number of steps from low to high, both included."""
    world = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        delays[world] = wp.randi(state, low, high + 1)


@wp.kernel
def delay_action(action: wp.array2d[float], delays: wp.array[int], taken: wp.array3d[float], late: wp.array2d[float]):
    """Keep the latest actions, the oldest first, and write the one that is late by the delay of the world."""
    world, i = wp.tid()
    last = taken.shape[1] - 1
    for k in range(last):
        taken[world, k, i] = taken[world, k + 1, i]
    taken[world, last, i] = action[world, i]
    late[world, i] = taken[world, last - delays[world], i]


@wp.kernel
def forget_actions(world_mask: wp.array[wp.bool], taken: wp.array3d[float]):
    """Set the actions of the masked worlds to zero."""
    world, k, i = wp.tid()
    if world_mask[world]:
        taken[world, k, i] = 0.0


@wp.kernel
def judge(
    terms: wp.array2d[wp.bool],
    truncates: wp.array[wp.bool],
    diverged: wp.array[wp.bool],
    limit: int,
    length: wp.array[int],
    terminated: wp.array[wp.bool],
    truncated: wp.array[wp.bool],
):
    """Length += 1; terminated if any term says so or the state diverged; truncated if only the time is over, or a term
    says so that truncates.
    """
    world = wp.tid()
    length[world] += 1
    ends = wp.int32(0)
    cuts = wp.int32(0)
    for term in range(terms.shape[0]):
        if terms[term, world]:
            if truncates[term]:
                cuts += 1
            else:
                ends += 1
    if diverged[world]:
        ends += 1
    if limit > 0 and length[world] >= limit:
        cuts += 1
    terminated[world] = ends > 0
    truncated[world] = ends == 0 and cuts > 0


@wp.func
def weigh(
    world: int,
    terms: wp.array2d[float],
    weights: wp.array[float],
    diverged: wp.array[wp.bool],
    reward: wp.array[float],
    episode_return: wp.array[float],
    sums: wp.array2d[float],
    fault: wp.array[int],
):
    """Reward: sum of weight × term, and its sums over the episode; the rewards of a diverged state are zero."""
    total = wp.float32(0.0)
    if not diverged[world]:
        for term in range(terms.shape[0]):
            value = weights[term] * terms[term, world]
            if not wp.isfinite(value):
                wp.atomic_min(fault, 0, term * terms.shape[1] + world)
            sums[term, world] += value
            total += value
    reward[world] = total
    episode_return[world] += total


@wp.kernel
def end_episodes(
    resets_at_once: int,
    resets_later: int,
    reward_terms: wp.array2d[float],
    weights: wp.array[float],
    fault: wp.array[int],
    waiting: wp.array[wp.bool],
    terminated: wp.array[wp.bool],
    truncated: wp.array[wp.bool],
    reward: wp.array[float],
    length: wp.array[int],
    episode_return: wp.array[float],
    sums: wp.array2d[float],
    terminations: wp.array2d[wp.bool],
    diverged: wp.array[wp.bool],
    action: wp.array2d[float],
    taken_action: wp.array2d[float],
    finished_length: wp.array[int],
    finished_return: wp.array[float],
    finished_sums: wp.array2d[float],
    totals: wp.array2d[wp.float64],
    finished: wp.array[wp.bool],
    ended: wp.array[wp.bool],
):
    """Sum the rewards, mark the worlds to reset, keep the sums of episodes that finish now, and add them to the totals
    of all episodes.

    With a later reset, the step of a world that is reset at its end counts for nothing: neither reward nor flags.
    """
    world = wp.tid()
    weigh(world, reward_terms, weights, diverged, reward, episode_return, sums, fault)
    for i in range(action.shape[1]):
        taken_action[world, i] = action[world, i]
    was_waiting = waiting[world]
    if was_waiting and resets_later > 0:
        reward[world] = 0.0
        terminated[world] = False
        truncated[world] = False
    is_over = terminated[world] or truncated[world]
    ended[world] = (is_over and resets_at_once > 0) or (was_waiting and resets_later > 0)
    waiting[world] = (is_over or was_waiting) and not ended[world]
    finished[world] = is_over and not was_waiting
    if finished[world]:
        finished_length[world] = length[world]
        finished_return[world] = episode_return[world]
        value = wp.float64(episode_return[world])
        totals[0, world] += wp.float64(1.0)
        totals[1, world] += wp.float64(length[world])
        totals[2, world] += value
        totals[3, world] += value * value
        row = wp.int32(4)
        for term in range(sums.shape[0]):
            finished_sums[term, world] = sums[term, world]
            totals[row + term, world] += wp.float64(sums[term, world])
        row += sums.shape[0]
        held = wp.int32(0)
        for term in range(terminations.shape[0]):
            if terminations[term, world]:
                held += 1
                totals[row + term, world] += wp.float64(1.0)
        row += terminations.shape[0]
        if diverged[world]:
            totals[row, world] += wp.float64(1.0)
        if truncated[world]:
            totals[row + 1, world] += wp.float64(1.0)
            if held == 0:
                totals[row + 2, world] += wp.float64(1.0)


@wp.kernel
def end_metrics(
    finished: wp.array[wp.bool],
    metrics: wp.array2d[float],
    first: int,
    success: int,
    finished_metrics: wp.array2d[float],
    totals: wp.array2d[wp.float64],
    is_success: wp.array[wp.bool],
):
    """Keep the metrics of episodes that finish now, and add them and their squares to the totals, row `first` on."""
    world = wp.tid()
    if success >= 0:
        is_success[world] = finished[world] and metrics[success, world] > 0.0
    if finished[world]:
        for term in range(metrics.shape[0]):
            number = wp.float64(metrics[term, world])
            finished_metrics[term, world] = metrics[term, world]
            totals[first + 2 * term, world] += number
            totals[first + 2 * term + 1, world] += number * number


@wp.kernel
def begin_episodes(
    world_mask: wp.array[wp.bool],
    length: wp.array[int],
    episode_return: wp.array[float],
    sums: wp.array2d[float],
    action: wp.array2d[float],
    last_action: wp.array2d[float],
    earlier_action: wp.array2d[float],
    waiting: wp.array[wp.bool],
    is_due: wp.array[wp.bool],
    is_new: wp.array[wp.bool],
):
    """Clear the counts of the masked worlds, which have a new state."""
    world = wp.tid()
    if world_mask[world]:
        length[world] = 0
        episode_return[world] = 0.0
        for term in range(sums.shape[0]):
            sums[term, world] = 0.0
        for i in range(action.shape[1]):
            action[world, i] = 0.0
            last_action[world, i] = 0.0
            earlier_action[world, i] = 0.0
        waiting[world] = False
        is_due[world] = True
        is_new[world] = True


@wp.kernel
def finish_step(
    action: wp.array2d[float],
    last_action: wp.array2d[float],
    earlier_action: wp.array2d[float],
    is_due: wp.array[wp.bool],
    is_new: wp.array[wp.bool],
):
    """Keep the action as the last one, and the last one as the one before; no world has a new state."""
    world = wp.tid()
    is_due[world] = False
    is_new[world] = False
    for i in range(action.shape[1]):
        earlier_action[world, i] = last_action[world, i]
        last_action[world, i] = action[world, i]


@wp.kernel
def take_due(
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    low: wp.float64,
    high: wp.float64,
    dt: wp.float64,
    left: wp.array[wp.float64],
    due: wp.array[wp.bool],
):
    """Count down the time left in each world [s]; where it is over, the world is due, and a new time is drawn.

    What is left below zero counts for the next time, so that the mean of the times is that of the range.
    """
    world = wp.tid()
    left[world] -= dt
    is_due = left[world] <= wp.float64(1.0e-9)
    due[world] = is_due
    if is_due:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        left[world] += low + (high - low) * wp.float64(wp.randf(state))
        counts[world] += 1


@wp.kernel
def draw_times(
    world_mask: wp.array[wp.bool],
    key: int,
    seeds: wp.array[int],
    first_world: int,
    counts: wp.array[int],
    low: wp.float64,
    high: wp.float64,
    left: wp.array[wp.float64],
):
    """Draw the time to the next event in the masked worlds [s]."""
    world = wp.tid()
    if world_mask[world]:
        state = random_state(key, seeds[world], first_world + world, counts[world])
        left[world] = low + (high - low) * wp.float64(wp.randf(state))
        counts[world] += 1
