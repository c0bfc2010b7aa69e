"""The tasks that Pippin brings beside Gymnasium's own, step by step on MuJoCo's own engine from equal states.

The quadruped has no twin there: its test is that it runs.
"""

from importlib.util import find_spec
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pippin_conformance as conformance
import pippin_task.gym
import pytest

STEPS = 20

ALOFT = 10.0
"""Height above the ground from which nothing lands in these steps [m]."""

HEIGHTS = {"HalfCheetah": 1, "Hopper": 1, "Walker2d": 1, "Ant": 2, "Humanoid": 2, "HumanoidStandup": 2}
"""Coordinate of the height."""

ANKLES, ANKLE_ANGLES = [8, 10, 12, 14], [0.9, -0.9, -0.9, 0.9]
"""Coordinates of the ant's ankles, and angles inside their limits [rad]; the file starts them outside."""

FREE = ("Ant", "Humanoid", "HumanoidStandup")
"""Tasks with a free joint, whose conventions are others in MuJoCo."""

REFERENCES = {"Hopper": {1: 1.25}, "Walker2d": {1: 1.25}, "Reacher": {2: 0.1, 3: -0.1}}
"""What MuJoCo's coordinates are at our zeros: their `ref` [m]."""

POSITIONS_ALONE = {
    "impact_cost_weight": 0.0,
    "contact_cost_weight": 0.0,
    **dict.fromkeys(
        (f"include_{name}_in_observation" for name in ("cinert", "cvel", "qfrc_actuator", "cfrc_ext")), False
    ),
}
"""Arguments of Gymnasium's humanoids that leave 45 numbers in the observation."""

SETTINGS = {
    "InvertedPendulum": ({}, {}),
    "HalfCheetah": ({}, {}),
    "Hopper": ({}, {}),
    "Walker2d": ({"task.terminations.fallen.high": 20.0}, {"healthy_z_range": (0.8, 20.0)}),
    "Swimmer": ({}, {}),
    "HumanoidStandup": ({}, {key: value for key, value in POSITIONS_ALONE.items() if key != "contact_cost_weight"}),
    "Humanoid": (
        {"task.terminations.fallen.high": 20.0},
        {
            "healthy_z_range": (1.0, 20.0),
            **{key: POSITIONS_ALONE[key] for key in POSITIONS_ALONE if "impact" not in key},
        },
    ),
    "InvertedDoublePendulum": ({}, {}),
    "Reacher": ({}, {}),
    "Pusher": ({}, {}),
    "Ant": (
        {"task.terminations.unhealthy.high": 20.0},
        {"healthy_z_range": (0.2, 20.0), "contact_cost_weight": 0.0, "include_cfrc_ext_in_observation": False},
    ),
}
"""Overrides of our file, and Gymnasium's arguments: the ant is healthy aloft, and without forces of contacts."""


@pytest.fixture(scope="module", params=SETTINGS)
def pair(request):
    """Our environment in two worlds, and Gymnasium's."""
    overrides, arguments = SETTINGS[request.param]
    overrides = {"solver.type": "mujoco-native", "simulation.device": "cpu", **overrides}
    ours = gymnasium.make_vec(f"pippin_task.gym:Pippin/{request.param}-v0", num_envs=2, overrides=overrides)
    theirs = gymnasium.make(f"{request.param}-v5", disable_env_checker=True, **arguments).unwrapped
    theirs.reset()
    yield request.param, ours, theirs
    ours.close()
    theirs.close()


def start_together(ours, theirs, lift):
    """Begin an episode, and give Gymnasium's environment the state of our first world, some metres higher."""
    observations, _ = ours.reset(seed=3)
    simulation = ours.simulation
    name, joint_q = theirs.spec.id.removesuffix("-v5"), simulation.state.joint_q.numpy().reshape(2, -1)
    if lift and name in HEIGHTS:
        joint_q[:, HEIGHTS[name]] += lift
        if name == "Ant":
            joint_q[:, ANKLES] = ANKLE_ANGLES
            simulation.state.joint_qd.zero_()
            observations[:] = 0.0
        simulation.state.joint_q.assign(joint_q)
        simulation.invalidate("joints")
    q = simulation.state.joint_q.numpy().reshape(2, -1)[0].astype(float)
    qd = simulation.state.joint_qd.numpy().reshape(2, -1)[0].astype(float)
    for coordinate, reference in REFERENCES.get(name, {}).items():
        q[coordinate] += reference
    if name in FREE:  # MuJoCo's quaternion, and its velocities of a free body, which are the task's
        q[3:7] = q[[6, 3, 4, 5]]
        first = len(q) - 2  # x and y are not observed
        qd[:6] = observations[0, first : first + 6]
    theirs.set_state(q, qd)


def observed_and_rewarded(name, theirs, result, before, action):
    """Return Gymnasium's observation and reward, with positions of bodies of the same time as those of joints.

    MuJoCo leaves the positions of bodies one physics step behind; that matters for the ant's speed and for the pusher.
    The force of the double pendulum's cart, the last number, is not observed by ours.
    """
    observation, reward, info = result[0], result[1], result[4]
    if name == "InvertedDoublePendulum":
        return observation[:-1], reward
    if name == "Pusher":
        mujoco.mj_kinematics(theirs.model, theirs.data)
        return theirs._get_obs(), theirs._get_rew(action)[0]
    if name != "Ant":
        return observation, reward
    return observation, reward - info["x_velocity"] + (theirs.data.qpos[0] - before) / theirs.dt


@pytest.mark.first_cases(4)
@pytest.mark.parametrize(
    ("lift", "strength", "tolerance"), [(ALOFT, 0.05, 1e-5), (0.0, 0.3, 1e-3)], ids=["aloft", "on_the_ground"]
)
def test_a_task_gives_what_gymnasium_gives(pair, lift, strength, tolerance):
    """In float32 beside float64: 1e-5 of a value in flight. Contacts and limits of joints let differences grow."""
    name, ours, theirs = pair
    start_together(ours, theirs, lift)
    rng = np.random.default_rng(0)
    flags = []

    for step in range(STEPS):
        action = rng.uniform(-strength, strength, ours.action_space.shape).astype(np.float32)
        before = theirs.data.qpos[0]
        observations, reward, terminated, _, info = ours.step(action)
        result = theirs.step(action[0])
        flags.append((bool(terminated[0]), bool(result[2])))

        close = {"rtol": tolerance, "atol": tolerance, "err_msg": f"step {step}"}
        reached = info["final_obs"] if info["_final_obs"][0] else observations
        observation, expected = observed_and_rewarded(name, theirs, result, before, action[0])
        np.testing.assert_allclose(reached[0], observation, **close)
        np.testing.assert_allclose(reward[0], expected, **close)
        if any(flags[-1]):
            break

    assert all(one == other for one, other in flags)
    assert len(flags) == STEPS or name.startswith("Inverted")


@pytest.mark.first_cases(4)
def test_a_task_has_the_spaces_and_the_length_of_gymnasium(pair):
    name, ours, theirs = pair

    left_out = int(name == "InvertedDoublePendulum")  # the force of the cart's limits

    assert ours.single_observation_space.shape == (theirs.observation_space.shape[0] - left_out,)
    np.testing.assert_array_equal(ours.single_action_space.low, theirs.action_space.low)
    np.testing.assert_array_equal(ours.single_action_space.high, theirs.action_space.high)
    assert ours.task.episode_steps == gymnasium.spec(f"{name}-v5").max_episode_steps
    assert ours.simulation.control_dt == pytest.approx(theirs.dt)


QUICK = ("ant", "hopper", "quadruped_velocity")


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=[] if file.stem in QUICK else [pytest.mark.slow])
        for file in pippin_task.gym.TASKS.values()
    ],
    ids=lambda file: file.stem,
)
def test_a_task_runs_captured_on_its_own_solver(file):
    if file.stem.startswith(("go1", "g1", "yam")) and find_spec("mjlab") is None:
        pytest.skip("its robot is in the group `robots`")
    overrides = {"simulation.device": "cpu", "simulation.capture": "require"}
    env = pippin_task.gym.VectorEnv(file, num_envs=2, overrides=overrides)
    observations, _ = env.reset(seed=0)

    for _ in range(3):
        observations, reward, *_ = env.step(np.zeros(env.action_space.shape, dtype=np.float32))
    env.raise_errors()
    env.close()

    assert env.simulation.program.is_captured
    groups = observations.values() if isinstance(observations, dict) else [observations]
    assert all(np.isfinite(each).all() for each in groups)
    assert np.isfinite(reward).all()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["same-step", "next-step", "disabled"])
@pytest.mark.parametrize("name", ["HalfCheetah", "Ant", "QuadrupedVelocity"])
def test_a_task_keeps_the_contract_of_vector_environments(name, mode):
    """The inverted pendulum is checked beside the environment itself; MuJoCo in C has no contact forces to give."""
    overrides = {"simulation.device": "cpu"} | ({} if name == "QuadrupedVelocity" else {"solver.type": "mujoco-native"})
    file = pippin_task.gym.TASKS[f"Pippin/{name}-v0"]
    env = pippin_task.gym.VectorEnv(file, num_envs=2, autoreset=mode, max_episode_steps=3, overrides=overrides)

    results = conformance.check_vector_env(env, steps=7)

    assert {result.outcome for result in results} == {"passed"}


EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"
ORIGINS = ("Gymnasium's", "Isaac Lab", "dm_control", "mjlab's", "Playground's", "Ours:")
FILES = [*pippin_task.gym.TASKS.values(), *sorted((EXAMPLES / "tasks").glob("*.toml"))]
FILES += [EXAMPLES / f"{name}.toml" for name in ("reach", "quadruped_rough", "so101_push")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_the_file_of_a_task_is_short_and_says_where_it_comes_from(file):
    lines = file.read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 90
    assert lines[0].startswith("# ")
    assert any(origin in lines[0] for origin in ORIGINS), lines[0]
