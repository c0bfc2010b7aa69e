"""A vector environment of worlds: time of resets, statistics, seeds, memory, and bad input.

The pole falls in about three steps under the greatest force, and in about seven without one.
"""

import tomllib

import gymnasium
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
from gymnasium.vector import AutoresetMode
from pippin_task.gym import TASKS, VectorEnv

PUSH = np.full((4, 1), 3.0, dtype=np.float32)
REST = np.zeros((4, 1), dtype=np.float32)


def until_ended(env, actions=PUSH):
    """Step until an episode ends; return the number of steps and what the last one returned."""
    for count in range(1, 50):
        result = env.step(actions)
        if (result[2] | result[3]).any():
            return count, result
    raise AssertionError("no episode ended")


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("mode", ["same-step", "next-step", "disabled"])
def test_it_keeps_the_contract_of_vector_environments(make, mode):
    env = make(autoreset=mode, num_envs=3)

    results = conformance.check_vector_env(env, steps=30)

    assert {result.outcome for result in results} == {"passed"}


def test_same_step_returns_the_next_start_and_the_last_observation(make):
    env = make()
    env.reset(seed=0)

    _, (observations, reward, terminated, truncated, info) = until_ended(env)

    assert np.array_equal(info["_final_obs"], terminated)
    assert not truncated.any()
    assert (np.abs(info["final_obs"][terminated, 1]) > 0.2).all()  # the angle that ended the episode [rad]
    assert (np.abs(observations[terminated]) <= 0.01 + 1e-6).all()  # the range of the start
    assert not info["final_obs"][~terminated].any()  # theirs is to come
    np.testing.assert_array_equal(reward, 1.0 - terminated)


def test_same_step_obeys_the_action_after_the_end(make):
    env = make()
    env.reset(seed=0)
    _, (_, _, terminated, _, _) = until_ended(env)

    observations, *_ = env.step(PUSH)

    assert (observations[terminated, 2] > 0.5).all()  # the cart is pushed [m/s]


def test_next_step_returns_the_last_observation_and_then_ignores_an_action(make):
    env = make(autoreset="next-step")
    env.reset(seed=0)

    _, (last, _, terminated, _, _) = until_ended(env)
    first, reward, *flags, info = env.step(PUSH)
    second, after, *_ = env.step(PUSH)

    assert (np.abs(last[terminated, 1]) > 0.2).all()
    assert (np.abs(first[terminated]) <= 0.01 + 1e-6).all()
    assert not reward[terminated].any()
    assert not (flags[0] | flags[1] | info["_episode"])[terminated].any()
    assert (second[terminated, 2] > 0.5).all()
    assert (after[terminated] == 1.0).all()


def test_disabled_waits_for_a_reset_of_the_ended_worlds(make):
    env = make(autoreset="disabled")
    env.reset(seed=0)

    _, (last, _, terminated, _, _) = until_ended(env)
    with pytest.raises(pippin.SimulationError, match=r"step: the episodes of \d worlds ended: .* reset these worlds"):
        env.step(PUSH)
    first, _ = env.reset(options={"reset_mask": terminated})
    env.step(PUSH)

    assert (np.abs(last[terminated, 1]) > 0.2).all()
    assert (np.abs(first[terminated]) <= 0.01 + 1e-6).all()


@pytest.mark.parametrize("mode", ["same-step", "next-step", "disabled"])
def test_the_statistics_of_an_episode_are_length_return_and_sums_of_terms(make, mode):
    cost = {"type": "l1", "of": "joint-positions", "weight": -0.5}
    env = make({"task.rewards.cost": cost}, autoreset=mode, num_envs=1)
    env.reset(seed=0)
    rewards = []

    done = False
    while not done:
        _, reward, (done,), _, info = env.step(PUSH[:1])
        rewards.append(reward[0])

    assert info["_episode"][0]
    assert info["episode"]["l"][0] == len(rewards)
    assert info["episode"]["r"][0] == pytest.approx(sum(rewards), abs=1e-6)
    assert info["episode_terms"]["alive"][0] == len(rewards) - 1
    assert info["episode_terms"]["cost"][0] == pytest.approx(sum(rewards) - len(rewards) + 1, abs=1e-6)


SUCCESS = {"type": "within", "of": {"type": "joint-positions", "joints": ["slider"]}, "limit": 0.1, "latch": False}


def test_a_success_is_told_of_worlds_whose_episodes_ended_alone(make):
    """The first world is pushed off its place and falls; the others stay for the time of an episode."""
    mean = {"type": "mean", "of": "joint-positions"}
    env = make({"task.metrics": {"success": SUCCESS, "size": mean}}, max_episode_steps=5)
    env.reset(seed=0)
    actions = np.where(np.arange(4)[:, None] == 0, PUSH, REST).astype(np.float32)

    told = [env.step(actions)[4] for _ in range(5)]

    ended = np.array([info["_final_info"] for info in told])
    successes = np.array([info["final_info"]["is_success"] for info in told])
    assert (ended.sum(axis=0) == 1).all()
    np.testing.assert_array_equal(successes, ended & (np.arange(4) > 0))
    assert successes.dtype == bool
    assert [info["_episode_metrics"].tolist() for info in told] == ended.tolist()
    sizes = [info["episode_metrics"]["size"] for info in told]
    assert all(((sizes[k] > 0.0) == ended[: k + 1].any(axis=0)).all() for k in range(5) if ended[k].any())


def test_time_that_is_over_truncates_and_a_fall_in_that_step_terminates(make):
    env = make(max_episode_steps=3)
    env.reset(seed=0)

    actions = np.where(np.arange(4)[:, None] == 0, PUSH, REST).astype(np.float32)
    count, (_, _, terminated, truncated, info) = until_ended(env, actions)

    assert count == 3
    assert terminated.tolist() == [True, False, False, False]
    assert truncated.tolist() == [False, True, True, True]
    assert info["episode"]["l"].tolist() == [3, 3, 3, 3]


def test_the_mode_is_said_to_gymnasium_and_in_text(make):
    env = make(autoreset="next-step")

    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert str(env).endswith("inverted_pendulum.toml', num_envs=4, autoreset='next-step')")
    assert env.action_space.high.max() == 3.0


@pytest.mark.slow
def test_a_shard_of_a_run_draws_what_the_run_draws(make):
    whole = make()
    shards = [make(num_envs=2, first_world=first) for first in (0, 2)]

    runs = [[env.reset(seed=5)[0]] + [env.step(PUSH[: env.num_envs])[0] for _ in range(6)] for env in (whole, *shards)]

    np.testing.assert_array_equal(runs[0], np.concatenate(runs[1:], axis=1))
    assert np.unique(runs[0][0], axis=0).shape[0] == 4


def test_seeds_belong_to_worlds(make):
    env = make()
    first, _ = env.reset(seed=[1, 2, 3, 2**40])
    second, _ = env.reset(seed=[1, None, 7, 2**40])

    is_same = (first == second).all(axis=1)

    assert is_same.tolist() == [True, False, False, True]


def test_curricula_outlive_a_seed(make):
    """Start and noise are those of the first time; the weight of a reward is that of its stage."""
    stages = [{"step": 3, "numbers": {"weight": 5.0}}]
    env = make(
        {
            "task.curricula": {"more": {"type": "stages", "of": "rewards.alive", "stages": stages}},
            "task.observations.policy.positions.noise": 0.1,
        }
    )
    found = []
    for _ in range(2):
        start, _ = env.reset(seed=7)
        steps = [env.step(0.1 * PUSH) for _ in range(4)]
        found.append((start, [each[0] for each in steps], [each[1] for each in steps]))

    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[1][2], 5.0 * np.array(found[0][2])[:1].repeat(4, axis=0))
    np.testing.assert_allclose(found[0][2][:3], found[0][2][0][None].repeat(3, axis=0))


def test_a_step_in_which_no_episode_ends_gives_zeros_in_place_of_final_values(make):
    env = make()
    env.reset(seed=0)

    info = env.step(REST)[-1]

    assert not info["_final_obs"].any()
    assert not info["final_obs"].any()
    assert info["final_obs"].shape == env.observation_space.shape
    assert info["episode"]["l"].tolist() == [0, 0, 0, 0]


def test_without_a_seed_the_streams_continue(make):
    env = make()

    starts = [env.reset(seed=seed)[0] for seed in (1, None, 1, None)]

    np.testing.assert_array_equal(starts[:2], starts[2:])
    assert not np.array_equal(starts[0], starts[1])


def test_a_reset_of_some_worlds_keeps_history_and_noise_of_the_others(make):
    overrides = {"task.observations.policy.positions.noise": 0.1, "task.observations.policy.velocities.history": 3}
    env = make(overrides)
    runs = []
    mask = np.array([True, False, False, False])

    for is_reset in (False, True):
        env.reset(seed=0)
        runs.append([env.step(REST)[0]])
        if is_reset:
            runs[-1].append(env.reset(options={"reset_mask": mask})[0])
        runs[-1].append(env.step(REST)[0])

    np.testing.assert_array_equal(runs[1][1][1:], runs[1][0][1:])
    np.testing.assert_array_equal(runs[1][2][1:], runs[0][1][1:])
    assert not np.array_equal(runs[1][2][0], runs[0][1][0])


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("mode", ["same-step", "next-step"])
def test_an_environment_resumes_from_a_file_in_the_middle_of_episodes(make, mode, tmp_path):
    env = make({"task.observations.policy.positions.noise": 0.1}, autoreset=mode)
    env.reset(seed=0)
    until_ended(env)
    env.save(tmp_path / "env.npz")

    loaded = VectorEnv.load(tmp_path / "env.npz")
    results = [[each.step(PUSH) for _ in range(8)] for each in (env, loaded)]
    loaded.close()

    assert loaded.autoreset == mode
    for one, other in zip(*results, strict=True):
        for first, second in zip(one[:4], other[:4], strict=True):
            np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(one[4]["episode"]["r"], other[4]["episode"]["r"])


def test_a_world_that_diverges_ends_and_starts_anew_and_the_others_do_not_notice(make):
    env = make({"solver.type": "mujoco"})
    runs = []

    for breaks in (False, True):
        env.reset(seed=0)
        env.step(REST)
        if breaks:
            env.simulation.state.joint_qd[:1].fill_(np.nan)
            env.simulation.invalidate("joints", [0])
        runs.append([env.step(REST) for _ in range(2)])

    _, reward, terminated, *_ = runs[1][0]
    assert terminated.tolist() == [True, False, False, False]
    assert reward[0] == 0.0
    for whole, broken in zip(*runs, strict=True):
        np.testing.assert_array_equal(broken[0][1:], whole[0][1:])
        assert np.isfinite(broken[0]).all()
    env.raise_errors()


def test_a_reward_that_is_not_finite_is_named_and_nothing_else_is_lost(make):
    huge = {"type": "l2", "of": "joint-velocities", "weight": 3e38}
    env, whole = make({"task.rewards.huge": huge}), make()
    actions = np.where(np.arange(4)[:, None] == 2, PUSH, REST).astype(np.float32)
    for each in (env, whole):
        each.reset(seed=0)

    with pytest.raises(pippin.SimulationError, match=r"task\.rewards\.huge: is not finite in world 2"):
        env.step(actions)
    expected, _, terminated, *_ = whole.step(actions)

    np.testing.assert_array_equal(env.observe(), expected)
    np.testing.assert_array_equal(env.task.episodes.terminated.numpy(), terminated)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(
    ("action", "fault"),
    [
        ([[0.0], [0.0, 0.0]], r"expected a NumPy array, got a list whose rows have different lengths"),
        ({"force": 0.0}, r"expected a NumPy array, got dict"),
        (np.zeros((3, 1), np.float32), r"expected shape \(4, 1\), worlds × numbers, got \(3, 1\)"),
        (np.zeros((4, 1), bool), r"expected numbers, got bool; give float32"),
        (np.full((4, 1), 1e300), r"number 0 of world 0 is not finite; no step was taken"),
        (np.array([[0], [0], [np.nan], [0]], np.float32), r"number 0 of world 2 is not finite; no step was taken"),
    ],
)
def test_a_wrong_action_is_named_and_no_step_is_taken(make, action, fault):
    env = make()
    env.reset()

    with pytest.raises(pippin.ConfigError, match=f"step: action: {fault}"):
        env.step(action)

    assert env.simulation.step_count == 0


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("form", [list, lambda action: action.astype(float), lambda action: action.round().astype(int)])
def test_actions_of_other_numbers_are_those_of_float32(make, form):
    action = np.array([[1.0], [-1.0], [0.0], [1.0]], np.float32)
    env, plain = make(), make()
    for each in (env, plain):
        each.reset(seed=0)

    observations = env.step(form(action))[0]

    np.testing.assert_array_equal(observations, plain.step(action)[0])


@pytest.mark.slow
@pytest.mark.parametrize("form", [pippin.load, lambda file: tomllib.loads(file.read_text())])
def test_an_environment_of_tables_or_a_configuration_is_that_of_the_file(make, form):
    plain = make()
    env = make(file=form(TASKS["Pippin/InvertedPendulum-v0"]))

    for each in (env, plain):
        each.reset(seed=3)

    np.testing.assert_array_equal(env.step(PUSH)[0], plain.step(PUSH)[0])


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ([True], r"expected a mapping, got list"),
        ({"mask": None}, r"unknown key 'mask'; the one option is 'reset_mask'"),
        ({"reset_mask": [True] * 4}, r"reset_mask: expected a NumPy array, got list"),
        ({"reset_mask": np.ones(4, int)}, r"reset_mask: expected booleans, got int64"),
        ({"reset_mask": np.ones(3, bool)}, r"reset_mask: expected shape \(4,\), got \(3,\)"),
        ({"reset_mask": np.zeros(4, bool)}, r"reset_mask: no world is True"),
    ],
)
def test_a_wrong_option_is_named(make, options, fault):
    env = make()
    env.reset()

    with pytest.raises(pippin.ConfigError, match=f"reset: options: {fault}"):
        env.reset(options=options)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(
    ("seed", "fault"),
    [(-1, "from 0 on, got -1"), ("7", "got '7'"), (1.5, r"got 1\.5"), ([1, 2], "one for each of 4 worlds, got 2")],
)
def test_a_wrong_seed_is_named(make, seed, fault):
    with pytest.raises(pippin.ConfigError, match=f"reset: seed: .*{fault}"):
        make().reset(seed=seed)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"backend": "numpi"}, r"backend: unknown, 'numpi'; choose numpy, torch, warp"),
        ({"render_mode": "human"}, r"render_mode: unknown, 'human'; choose 'rgb_array', or None"),
        ({"max_episode_steps": 0}, r"max_episode_steps: expected a whole number from 1 on, got 0"),
        ({"overrides": {"scene.worlds": 2}}, r"overrides: 'scene\.worlds' is also given as an argument"),
        ({"overrides": {"scene": {"worlds": 2}}}, r"overrides: 'scene\.worlds' is also given as an argument"),
        ({"overrides": {"task.actions": {"extends": False}}}, r"task\.actions: there are none"),
        ({"overrides": {"task.observations": {"extends": False}}}, r"task\.observations: there are none"),
    ],
)
def test_a_wrong_argument_is_named(make, options, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        make(**options)


def test_a_file_without_a_task_is_named(make, tmp_path):
    file = tmp_path / "no_task.toml"
    file.write_text('[[scene.assets]]\npath = "pkg:gymnasium/envs/mujoco/assets/inverted_pendulum.xml"\n')

    with pytest.raises(pippin.ConfigError, match=r"no_task\.toml: has no \[task\] table"):
        make(file=file)


def test_a_step_needs_a_reset_and_an_open_environment(make):
    env = make()
    with pytest.raises(pippin.SimulationError, match="step: no episode has begun; call `reset` first"):
        env.step(REST)
    with pytest.raises(pippin.SimulationError, match="the first reset is of all worlds"):
        env.reset(options={"reset_mask": np.ones(4, bool)})
    env.reset()
    env.close()
    env.close()

    for call in (lambda: env.step(REST), env.reset, env.render):
        with pytest.raises(pippin.SimulationError, match="closed"):
            call()


def test_results_without_copies_are_the_memory_of_the_task(make):
    env = make(copy=False)
    env.reset()

    first, *_ = env.step(REST)
    second, *_ = env.step(REST)

    assert np.shares_memory(first, second)


def test_groups_of_observations_are_a_dictionary(make):
    env = make({"task.observations.critic": {"height": {"of": "joint-positions"}}})

    observations, _ = env.reset()

    assert isinstance(env.single_observation_space, gymnasium.spaces.Dict)
    assert {name: values.shape for name, values in observations.items()} == {"policy": (4, 4), "critic": (4, 2)}


@pytest.mark.slow
def test_an_image_of_each_world_shows_its_own_pole(make):
    env = make(render_mode="rgb_array", num_envs=2)
    env.reset(seed=0)
    before = env.render()
    env.step(np.array([[3.0], [0.0]], dtype=np.float32))

    after = env.render()

    changed = [(one != other).any(axis=-1).mean() for one, other in zip(before, after, strict=True)]
    assert [picture.shape for picture in after] == [(240, 320, 3)] * 2
    assert changed[0] > 3 * changed[1]


def test_there_are_no_images_without_a_render_mode(make):
    assert make().render() is None


def test_it_steps_in_one_graph_on_a_solver_that_can_be_captured(make):
    env = make({"solver.type": "mujoco", "simulation.capture": "require"})
    env.reset(seed=0)

    until_ended(env)

    assert env.simulation.program.is_captured
    assert len(env.simulation.program.segments) == 1
