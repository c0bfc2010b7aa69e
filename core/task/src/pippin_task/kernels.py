"""Kernels of tasks."""

import warp as wp
from pippin.state import random_state

from .draws import MaskedDraws, state_in

BLOCK = wp.constant(16)
"""Numbers of a term of observations that a thread writes: on a CPU, most of the time of a thread is its call."""


@wp.kernel
def silence_policy(is_on: wp.array[wp.bool], action: wp.array2d[float]):
    """Set the action to zero while the policy is switched off."""
    world, number = wp.tid()
    if not is_on[0]:
        action[world, number] = 0.0


@wp.kernel
def forget(lengths: wp.array[int], state: wp.array3d[float]):
    """Set the state of a recurrent policy to zero in the worlds whose episode begins."""
    layer, world, unit = wp.tid()
    if lengths[world] == 0:
        state[layer, world, unit] = 0.0


@wp.kernel
def remember(after: wp.array3d[float], state: wp.array3d[float]):
    """Keep the state of a recurrent policy after a step."""
    layer, world, unit = wp.tid()
    state[layer, world, unit] = after[layer, world, unit]


@wp.kernel
def explore(
    action: wp.array2d[float], deviation: wp.array[float], key: int, seeds: wp.array[int], first_world: int, step: int
):
    """Add normal noise to each number of an action, drawn by seed, global world and control step."""
    world, i = wp.tid()
    generator = random_state(key, seeds[world], first_world + world, step * action.shape[1] + i)
    action[world, i] = action[world, i] + deviation[i] * wp.randn(generator)


@wp.kernel
def draw_action(
    key: int,
    seeds: wp.array[int],
    first_world: int,
    step: wp.array[wp.int64],
    low: wp.array[float],
    high: wp.array[float],
    action: wp.array2d[float],
):
    """Draw each number of an action evenly between two bounds, by seed, global world and control step."""
    world, i = wp.tid()
    place = int(step[0]) * action.shape[1] + i
    action[world, i] = wp.randf(random_state(key, seeds[world], first_world + world, place), low[i], high[i])


@wp.kernel
def hold_command(is_held: wp.array[wp.bool], kept: wp.array2d[float], value: wp.array2d[float]):
    """Put a command back while a user holds it, however it was drawn."""
    world, number = wp.tid()
    if is_held[0]:
        value[world, number] = kept[world, number]


@wp.kernel
def leave_out(world_mask: wp.array[wp.bool], others: wp.array[wp.bool], out: wp.array[wp.bool]):
    """Mask the masked worlds that are not among others."""
    world = wp.tid()
    out[world] = world_mask[world] and not others[world]


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
def draw_delays(draws: MaskedDraws, low: int, high: int, delays: wp.array[int]):
    """Draw a number of steps from low to high, both included."""
    world = wp.tid()
    if draws.world_mask[world]:
        state = state_in(draws, world)
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


@wp.struct
class EpisodeArrays:
    """The arrays of `EpisodeBuffers` that its kernels read and write, by their names there; `new` is a word of C++."""

    length: wp.array[int]
    terminated: wp.array[wp.bool]
    truncated: wp.array[wp.bool]
    reward_terms: wp.array2d[float]
    termination_terms: wp.array2d[wp.bool]
    reward: wp.array[float]
    episode_return: wp.array[float]
    episode_sums: wp.array2d[float]
    finished: wp.array[wp.bool]
    finished_length: wp.array[int]
    finished_return: wp.array[float]
    finished_sums: wp.array2d[float]
    totals: wp.array2d[wp.float64]
    metric_terms: wp.array2d[float]
    finished_metrics: wp.array2d[float]
    ended: wp.array[wp.bool]
    waiting: wp.array[wp.bool]
    diverged: wp.array[wp.bool]
    due: wp.array[wp.bool]
    is_new: wp.array[wp.bool]
    weights: wp.array[float]
    truncates: wp.array[wp.bool]
    fault: wp.array[int]
    action: wp.array2d[float]
    last_action: wp.array2d[float]
    earlier_action: wp.array2d[float]
    taken_action: wp.array2d[float]


@wp.kernel
def judge(episodes: EpisodeArrays, limit: int):
    """Count the step; a term or a diverged state terminates, and time alone, or a term that truncates, truncates."""
    world = wp.tid()
    episodes.length[world] += 1
    ends = wp.int32(0)
    cuts = wp.int32(0)
    for term in range(episodes.termination_terms.shape[0]):
        if episodes.termination_terms[term, world]:
            if episodes.truncates[term]:
                cuts += 1
            else:
                ends += 1
    if episodes.diverged[world]:
        ends += 1
    if limit > 0 and episodes.length[world] >= limit:
        cuts += 1
    episodes.terminated[world] = ends > 0
    episodes.truncated[world] = ends == 0 and cuts > 0


@wp.kernel
def end_episodes(episodes: EpisodeArrays, resets_at_once: int, resets_later: int):
    """Sum the rewards, mark the worlds to reset, keep the sums of episodes that finish now, and add them to the totals
    of all episodes.

    The reward is the sum of weight × term; that of a diverged state is zero. With a later reset, the step of a world
    that is reset at its end counts for nothing: neither reward nor flags.
    """
    world = wp.tid()
    total = wp.float32(0.0)
    if not episodes.diverged[world]:
        for term in range(episodes.reward_terms.shape[0]):
            number = episodes.weights[term] * episodes.reward_terms[term, world]
            if not wp.isfinite(number):
                wp.atomic_min(episodes.fault, 0, term * episodes.reward_terms.shape[1] + world)
            episodes.episode_sums[term, world] += number
            total += number
    episodes.reward[world] = total
    episodes.episode_return[world] += total
    for i in range(episodes.action.shape[1]):
        episodes.taken_action[world, i] = episodes.action[world, i]
    was_waiting = episodes.waiting[world]
    if was_waiting and resets_later > 0:
        episodes.reward[world] = 0.0
        episodes.terminated[world] = False
        episodes.truncated[world] = False
    is_over = episodes.terminated[world] or episodes.truncated[world]
    is_reset = (is_over and resets_at_once > 0) or (was_waiting and resets_later > 0)
    episodes.ended[world] = is_reset
    episodes.waiting[world] = (is_over or was_waiting) and not is_reset
    episodes.finished[world] = is_over and not was_waiting
    if is_over and not was_waiting:
        episodes.finished_length[world] = episodes.length[world]
        episodes.finished_return[world] = episodes.episode_return[world]
        value = wp.float64(episodes.episode_return[world])
        episodes.totals[0, world] += wp.float64(1.0)
        episodes.totals[1, world] += wp.float64(episodes.length[world])
        episodes.totals[2, world] += value
        episodes.totals[3, world] += value * value
        row = wp.int32(4)
        for term in range(episodes.episode_sums.shape[0]):
            episodes.finished_sums[term, world] = episodes.episode_sums[term, world]
            episodes.totals[row + term, world] += wp.float64(episodes.episode_sums[term, world])
        row += episodes.episode_sums.shape[0]
        held = wp.int32(0)
        for term in range(episodes.termination_terms.shape[0]):
            if episodes.termination_terms[term, world]:
                held += 1
                episodes.totals[row + term, world] += wp.float64(1.0)
        row += episodes.termination_terms.shape[0]
        if episodes.diverged[world]:
            episodes.totals[row, world] += wp.float64(1.0)
        if episodes.truncated[world]:
            episodes.totals[row + 1, world] += wp.float64(1.0)
            if held == 0:
                episodes.totals[row + 2, world] += wp.float64(1.0)


@wp.kernel
def end_metrics(episodes: EpisodeArrays, first: int, success: int, is_success: wp.array[wp.bool]):
    """Keep the metrics of episodes that finish now, and add them and their squares to the totals, row `first` on."""
    world = wp.tid()
    if success >= 0:
        is_success[world] = episodes.finished[world] and episodes.metric_terms[success, world] > 0.0
    if episodes.finished[world]:
        for term in range(episodes.metric_terms.shape[0]):
            number = wp.float64(episodes.metric_terms[term, world])
            episodes.finished_metrics[term, world] = episodes.metric_terms[term, world]
            episodes.totals[first + 2 * term, world] += number
            episodes.totals[first + 2 * term + 1, world] += number * number


@wp.kernel
def begin_episodes(episodes: EpisodeArrays, world_mask: wp.array[wp.bool]):
    """Clear the counts of the masked worlds, which have a new state."""
    world = wp.tid()
    if world_mask[world]:
        episodes.length[world] = 0
        episodes.episode_return[world] = 0.0
        for term in range(episodes.episode_sums.shape[0]):
            episodes.episode_sums[term, world] = 0.0
        for i in range(episodes.action.shape[1]):
            episodes.action[world, i] = 0.0
            episodes.last_action[world, i] = 0.0
            episodes.earlier_action[world, i] = 0.0
        episodes.waiting[world] = False
        episodes.due[world] = True
        episodes.is_new[world] = True


@wp.kernel
def finish_step(episodes: EpisodeArrays):
    """Keep the action as the last one, and the last one as the one before; no world has a new state."""
    world = wp.tid()
    episodes.due[world] = False
    episodes.is_new[world] = False
    for i in range(episodes.action.shape[1]):
        episodes.earlier_action[world, i] = episodes.last_action[world, i]
        episodes.last_action[world, i] = episodes.action[world, i]


@wp.kernel
def take_due(draws: MaskedDraws, low: wp.float64, high: wp.float64, dt: wp.float64, left: wp.array[wp.float64]):
    """Count down the time left in each world [s]; where it is over, the world is due, and a new time is drawn.

    What is left below zero counts for the next time, so that the mean of the times is that of the range.
    """
    world = wp.tid()
    left[world] -= dt
    is_due = left[world] <= wp.float64(1.0e-9)
    draws.world_mask[world] = is_due
    if is_due:
        state = state_in(draws, world)
        left[world] += low + (high - low) * wp.float64(wp.randf(state))
        draws.counts[world] += 1


@wp.kernel
def draw_times(draws: MaskedDraws, low: wp.float64, high: wp.float64, left: wp.array[wp.float64]):
    """Draw the time to the next event in the masked worlds [s]."""
    world = wp.tid()
    if draws.world_mask[world]:
        state = state_in(draws, world)
        left[world] = low + (high - low) * wp.float64(wp.randf(state))
        draws.counts[world] += 1
