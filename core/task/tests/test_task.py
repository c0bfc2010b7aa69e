"""Episode statistics of a task: rewards, ends, resets and observations, in the recorded step."""

import numpy as np
import pippin
import pytest

GRAVITY_FREE = {"scene": {"gravity": [0.0, 0.0, 0.0]}}


class Throw:
    """Sets the velocity of the pole of one world [rad/s] before each step."""

    def __init__(self, world, speed):
        self.world, self.speed = world, speed

    @pippin.hookimpl
    def start_step(self, state):
        dof = 2 * self.world + 1
        state.joint_qd[dof : dof + 1].fill_(self.speed)


def statistics(simulation):
    task = simulation.task
    episodes = task.episodes
    names = ("terminated", "truncated", "length")
    found = {name: getattr(episodes, name).numpy().tolist() for name in names}
    return found | {"reward": task.episodes.reward.numpy().tolist()}


def test_a_step_with_a_task_is_one_graph(tasked):
    with tasked(simulation={"capture": "require"}, episode_length=0.1) as simulation:
        simulation.step(7)
        assert len(simulation.program.segments) == 1


def test_a_terminated_world_starts_anew_in_the_same_step(tasked):
    with tasked(plugins=[Throw(1, 10.0)], events={}, **GRAVITY_FREE) as simulation:
        simulation.step(1)
        first, task = statistics(simulation), simulation.task
        simulation.step(1)
        second = statistics(simulation)
        final = task.observations["policy"].final.numpy()[1]
        after = task.observations["policy"].values.numpy()[1]

    assert (first["terminated"], first["length"]) == ([False] * 3, [1, 1, 1])
    assert (second["terminated"], second["length"]) == ([False, True, False], [2, 0, 2])
    np.testing.assert_allclose(first["reward"], 3 * [2.0 * 0.02])
    np.testing.assert_allclose(second["reward"], [0.04, 0.0, 0.04])
    assert final[1] > 0.3
    np.testing.assert_allclose(after, 0.0, atol=1e-6)
    assert task.episodes.finished_length.numpy().tolist() == [0, 2, 0]
    np.testing.assert_allclose(task.episodes.finished_return.numpy()[1], 0.04)
    np.testing.assert_allclose(task.episodes.finished_sums.numpy()[0, 1], 0.04)


def test_the_last_observation_is_the_one_that_would_follow_without_an_end(tasked):
    """Of the clock, which goes on after the rewards are judged."""
    clock = {"policy": {"clock": {"of": {"type": "phase", "frequency": 2.0}}}}
    with tasked(episode_length=0.06, observations=clock, events={}, **GRAVITY_FREE) as simulation:
        simulation.step(3)
        group = simulation.task.observations["policy"]
        final, after = group.final.numpy(), group.values.numpy()

    turn = 2.0 * np.pi * 2.0 * 0.06
    np.testing.assert_allclose(final, [[np.cos(turn), np.sin(turn)]] * 3, atol=1e-6)
    np.testing.assert_allclose(after, [[1.0, 0.0]] * 3, atol=1e-6)


def test_an_episode_whose_time_is_over_is_truncated(tasked):
    with tasked(episode_length=0.06, events={}, **GRAVITY_FREE) as simulation:
        simulation.step(3)
        found = statistics(simulation)

    assert (found["terminated"], found["truncated"], found["length"]) == ([False] * 3, [True] * 3, [0] * 3)


def test_a_reset_in_the_next_step_ignores_the_action_and_counts_for_nothing(tasked):
    with tasked(plugins=[Throw(1, 10.0)], autoreset="next-step", events={}, **GRAVITY_FREE) as simulation:
        simulation.step(2)
        ended = statistics(simulation)
        observed = simulation.task.observations["policy"].values.numpy()[1].copy()
        simulation.step(1)
        begun = statistics(simulation)
        fresh = simulation.task.observations["policy"].values.numpy()[1].copy()

    assert (ended["terminated"], ended["length"]) == ([False, True, False], [2, 2, 2])
    assert observed[1] > 0.3
    assert (begun["terminated"], begun["length"]) == ([False] * 3, [3, 0, 3])
    np.testing.assert_allclose(begun["reward"], [0.04, 0.0, 0.04])
    np.testing.assert_allclose(fresh, 0.0, atol=1e-6)


def test_without_an_automatic_reset_worlds_end_and_wait(tasked):
    with tasked(plugins=[Throw(1, 10.0)], autoreset="disabled", events={}, **GRAVITY_FREE) as simulation:
        simulation.step(2)
        ended = statistics(simulation)
        simulation.step(2)
        waiting = simulation.task.episodes.waiting.numpy().tolist()
        position = simulation.state.joint_q.numpy()[3]

    assert (ended["terminated"], ended["length"]) == ([False, True, False], [2, 2, 2])
    assert waiting == [False, True, False]
    assert position > 0.3


def test_weights_count_per_second_or_per_step(tasked):
    rewards = {}
    for rate in ("second", "step"):
        with tasked(reward_rate=rate) as simulation:
            simulation.step(1)
            rewards[rate] = simulation.task.episodes.reward.numpy()[0]

    np.testing.assert_allclose(rewards["second"], 0.02 * rewards["step"])


def test_a_reward_of_weight_zero_is_left_out(tasked):
    terms = {"alive": {"type": "alive", "weight": 1.0}, "idle": {"type": "l2", "of": "last-action", "weight": 0.0}}
    with tasked(rewards=terms) as simulation:
        assert list(simulation.task.rewards) == ["alive"]


def test_the_history_begins_with_the_first_reading(tasked):
    group = {"policy": {"velocities": {"of": "joint-velocities", "history": 3}}}
    with tasked(observations=group, plugins=[Throw(0, 1.0)], events={}, terminations={}, **GRAVITY_FREE) as simulation:
        values = simulation.task.observations["policy"].values
        simulation.reset()
        start = values.numpy()[0].reshape(3, 2).copy()
        seen = []
        for _ in range(2):
            simulation.step()
            seen.append(values.numpy()[0].reshape(3, 2).copy())

    assert (start == start[0]).all()
    np.testing.assert_array_equal(seen[1][:2], seen[0][1:])
    np.testing.assert_array_equal(seen[0][0], start[0])
    assert seen[0][2, 1] > 0.5


def test_a_diverged_world_ends_and_costs_nothing(tasked):
    with tasked(events={}) as simulation:
        simulation.step(1)
        positions = simulation.state.joint_q.numpy()
        positions[5] = np.nan
        simulation.state.joint_q.assign(positions)
        simulation.invalidate("joints", [2])
        simulation.step(1)
        found = statistics(simulation)
        simulation.raise_errors()

    assert found["terminated"] == [False, False, True]
    assert found["reward"][2] == 0.0
    assert np.isfinite(simulation.state.joint_q.numpy()).all()


def test_a_reward_that_is_not_finite_names_term_and_world(tasked):
    class Spoil:
        @pippin.hookimpl
        def start_step(self):
            if target is not None:
                target.fill_(float("inf"))

    target = None
    rewards = {"effort": {"type": "l2", "of": "last-action", "weight": -1.0}}
    with tasked(rewards=rewards, plugins=[Spoil()], simulation={"capture": "off"}) as simulation:
        simulation.step(1)
        simulation.raise_errors()
        target = simulation.task.episodes.action[1:2]
        simulation.step(1)
        with pytest.raises(pippin.SimulationError, match=r"task\.rewards\.effort: is not finite in world 1"):
            simulation.raise_errors()


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"episode_length": 1e9}, r"task\.episode_length: 1e\+09 s are 50000000000 control steps, and a device counts"),
        ({"episode_length": 0.05}, r"task\.episode_length: 0\.05 s is not a whole number of control steps of 0\.02 s"),
        (
            {"actions": {"force": {"type": "joint-targets", "actuator": "rial"}}},
            r"task\.actions\.force\.actuator: there is no actuator 'rial'; did you mean 'rail'",
        ),
        (
            {"observations": {"policy": {"height": {"of": {"type": "root-height", "body": "cat"}}}}},
            r"task\.observations\.policy\.height\.of\.body: .*'cat'",
        ),
        (
            {"rewards": {"x": {"type": "l2", "of": "joint-positions", "axes": "xy", "weight": 1.0}}},
            r"task\.rewards\.x\.axes: the quantity has .* not the axes x, y, z",
        ),
        ({"rewards": {"x": {"type": "l3", "weight": 1.0}}}, r"task\.rewards\.x\.type: .*'l3'"),
    ],
)
def test_a_wrong_task_is_refused_with_its_place(task, message, tasked):
    with pytest.raises(pippin.PippinError, match=message):
        tasked(**task)


def test_a_reward_may_be_multiplied_by_others(tasked):
    """A law by a law by a gate, each with its weight; a curriculum or a weight of zero concerns the whole."""
    angle = {"of": {"type": "joint-positions", "joints": ["pole"]}, "weight": 1.0}
    place = {"of": {"type": "joint-positions", "joints": ["rail"]}, "weight": 1.0}
    gate = {**place, "type": "beyond", "low": -0.02, "high": 0.02, "weight": 3.0}
    near = {**angle, "type": "exp", "std": 0.1, "weight": 0.5, "times": gate}
    rewards = {"both": {**place, "type": "value", "weight": 2.0, "times": near}}
    with tasked(worlds=16, rewards=rewards, reward_rate="step", terminations={}) as simulation:
        simulation.step()
        rail, pole = simulation.state.joint_q.numpy().reshape(16, 2).T
        got = simulation.task.episodes.reward.numpy()

    expected = 2.0 * rail * 0.5 * np.exp(-((pole / 0.1) ** 2)) * 3.0 * (np.abs(rail) > 0.02)
    assert 0 < np.count_nonzero(expected) < 16
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-7)
    with pytest.raises(pippin.ConfigError, match=r"rewards\.both\.times\.axes: the quantity has pole, not"):
        tasked(rewards={"both": {**place, "type": "value", "times": {**near, "axes": "q"}}})


def test_a_reward_whose_table_derives_from_no_class_of_ours_has_no_factor(tasked, tmp_path):
    """`weight` is all that the task asks of it."""
    (tmp_path / "plain.py").write_text(
        "import attrs\nfrom pippin_task import Reward\n\n\n"
        '@attrs.frozen(kw_only=True)\nclass PlainConfig:\n    """A reward of one."""\n\n'
        '    implementation = "Plain"\n    weight: float\n    """Its weight."""\n\n\n'
        "class Plain(Reward):\n    def evaluate(self, out):\n        out.fill_(1.0)\n"
    )
    rewards = {"plain": {"type": f"{tmp_path}/plain.py:PlainConfig", "weight": 2.0}}
    with tasked(rewards=rewards, reward_rate="step", terminations={}) as simulation:
        simulation.step()

        np.testing.assert_allclose(simulation.task.episodes.reward.numpy(), 2.0)
