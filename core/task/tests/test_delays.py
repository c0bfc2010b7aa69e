"""Delays: readings and actions that are late by whole control steps, drawn for each world at each reset."""

import numpy as np
import pippin
import pytest

WORLDS, STEPS = 16, 12


def followed(tasked, delay, history=1, **task):
    """Return what was observed of the velocities without and with a delay, shape [2, steps, worlds, history, 2]; the
    odd worlds are reset after step 6.
    """
    prompt = {"velocities": {"of": "joint-velocities", "history": history}}
    late = {"velocities": {"of": "joint-velocities", "history": history, "delay": delay}}
    groups, seen = {"prompt": prompt, "late": late}, []
    with tasked(worlds=WORLDS, observations=groups, terminations={}, **task) as simulation:
        values = [simulation.task.observations[name].values for name in groups]
        simulation.reset()
        for step in range(STEPS):
            seen.append([each.numpy().reshape(WORLDS, history, 2).copy() for each in values])
            simulation.task.episodes.action.fill_(0.5)
            simulation.step()
            if step == 6:
                simulation.reset(np.arange(1, WORLDS, 2))
    return np.array(seen).swapaxes(0, 1)


def delays_of(prompt, late, steps, worlds):
    """Return by how many steps some worlds are late in an episode, for the only delay that explains its readings."""
    found = []
    for world in worlds:
        fits = [
            lag
            for lag in range(len(steps))
            if all((late[k, world, -1] == prompt[max(k - lag, steps[0]), world, -1]).all() for k in steps)
        ]
        assert len(fits) == 1, (world, fits)
        found += fits
    return found


def test_readings_are_late_by_a_number_that_each_world_draws(tasked):
    prompt, late = followed(tasked, [1, 4])
    odd, even = range(1, WORLDS, 2), range(0, WORLDS, 2)
    before, after = (delays_of(prompt, late, steps, odd) for steps in (range(7), range(7, STEPS)))

    assert set(before) | set(delays_of(prompt, late, range(STEPS), even)) == {1, 2, 3, 4}
    assert before != after


def test_a_history_of_late_readings_is_late_as_a_whole(tasked):
    prompt, late = followed(tasked, [2, 2], history=3)

    np.testing.assert_array_equal(late[2:7], prompt[:5])
    np.testing.assert_array_equal(late[:2], prompt[:1].repeat(2, axis=0))


def test_an_action_takes_effect_later(tasked):
    """The target follows the action after as many steps in each world, and after a reset the action counts as zero."""
    targets = []
    with tasked(worlds=WORLDS, action_delay=[0, 3], terminations={}) as simulation:
        for step in range(1, STEPS + 1):
            simulation.task.episodes.action.fill_(0.01 * step)
            simulation.step()
            targets.append(simulation.actuators["rail"].position_targets.numpy()[:, 0].copy())
            given = simulation.task.episodes.action.numpy().copy()
        simulation.reset([1])
        simulation.task.episodes.action.fill_(0.5)
        simulation.step()
        again = simulation.actuators["rail"].position_targets.numpy()[:, 0]

    delays = np.round(STEPS - np.array(targets[-1]) * 100).astype(int)
    assert set(delays) == {0, 1, 2, 3}
    expected = np.maximum(np.arange(1, STEPS + 1)[:, None] - delays, 0) * 0.01
    np.testing.assert_allclose(targets, expected, atol=1e-6)
    np.testing.assert_allclose(given, 0.01 * STEPS, atol=1e-6)
    assert again[1] in (0.0, 0.5)


def test_delays_are_drawn_alike_in_shards(tasked):
    seen = [followed(tasked, [0, 4], scene={"first_world": first})[1] for first in (0, 4)]

    np.testing.assert_array_equal(seen[0][:7, 4:], seen[1][:7, :-4])


def test_a_delay_that_no_memory_holds_is_refused(tasked):
    group = {"policy": {"velocities": {"of": "joint-velocities", "delay": [0, 2**31 - 1]}}}
    with pytest.raises(pippin.ConfigError, match=r"policy\.velocities\.delay: .*<= 100000: 2147483647"):
        tasked(observations=group)


@pytest.mark.parametrize("delay", [[2, 1], [-1, 2]])
def test_a_wrong_delay_is_refused(tasked, delay):
    with pytest.raises(pippin.ConfigError, match=r"action_delay.*0 <= low <= high"):
        tasked(action_delay=delay)
