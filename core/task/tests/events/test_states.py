"""Events that change the state: their distributions, their seeds, and pushes."""

import newton
import numpy as np
import pippin
import pytest

WORLDS = 400
STARTS = {
    "arm": {"type": "joints", "joints": ["shoulder"], "scale": [0.5, 1.5], "velocity": [1.0, 2.0]},
    "elbow": {"type": "joints", "joints": ["elbow"], "position": [-1.0, 1.0], "position_std": 0.1, "velocity_std": 0.5},
    "root": {"type": "root", "x": [-0.5, 0.5], "yaw": [-3.0, 3.0], "velocity": {"z": [1.0, 1.0]}, "velocity_std": 0.1},
}


@pytest.fixture(scope="module")
def started(floating):
    """Return a simulation with many worlds after a reset."""
    simulation = floating(STARTS, worlds=WORLDS)
    simulation.reset()
    return simulation


def positions(simulation) -> np.ndarray:
    """Return the coordinates of each world, shape [worlds, 9]: of the root, shoulder and elbow."""
    return simulation.state.joint_q.numpy().reshape(-1, 9).copy()


def velocities(simulation) -> np.ndarray:
    return simulation.state.joint_qd.numpy().reshape(-1, 8).copy()


def assert_uniform(values: np.ndarray, low: float, high: float) -> None:
    """A sample of n has its mean within 4 standard errors, and leaves 5 % of the range empty with p < e^(-n/20)."""
    width = high - low
    assert low <= values.min() < low + 0.05 * width
    assert high - 0.05 * width < values.max() <= high
    assert abs(values.mean() - (low + high) / 2) < 4 * width / np.sqrt(12 * len(values))


def assert_normal(values: np.ndarray, mean: float, std: float) -> None:
    """Mean and standard deviation of n values have standard errors of std/√n and std/√2n."""
    assert abs(values.mean() - mean) < 4 * std / np.sqrt(len(values))
    assert abs(values.std() - std) < 4 * std / np.sqrt(2 * len(values))


def test_points_fill_the_allowed_part_of_the_plane_and_rest(floating):
    """A ring of 0.2 to 0.4 within a square of 0.5: radii in equal areas, angles in equal shares."""
    event = {"type": "joint-point", "joints": ["elbow", "shoulder"], "centre": [0.1, -0.1]}
    event |= {"first": [-0.5, 0.5], "second": [-0.5, 0.5], "distance": [0.2, 0.4]}
    with floating({"point": event}, worlds=WORLDS) as simulation:
        simulation.reset()
        points = positions(simulation)[:, [8, 7]] - [0.1, -0.1]
        rates = velocities(simulation)[:, 6:]

    radii, angles = np.linalg.norm(points, axis=1), np.arctan2(points[:, 1], points[:, 0])
    assert_uniform(radii**2, 0.04, 0.16)
    assert_uniform(angles, -np.pi, np.pi)
    assert not rates.any()


def test_a_point_that_is_never_allowed_is_moved_to_the_nearest_distance(floating):
    event = {"type": "joint-point", "joints": ["shoulder", "elbow"], "first": [0.1, 0.2], "second": [0.0, 0.1]}
    with floating({"point": {**event, "distance": [0.5, 0.6]}}) as simulation:
        simulation.reset()
        points = positions(simulation)[:, 7:]

    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 0.5, rtol=1e-5)


def test_a_point_needs_two_axes_and_a_range_of_distances(floating):
    event = {"type": "joint-point", "first": [-0.5, 0.5], "second": [-0.5, 0.5]}
    with pytest.raises(pippin.ConfigError, match=r"matches 2 axes: .*; choose one"):
        floating({"point": {**event, "joints": ["shoulder|elbow", "elbow"]}})
    with pytest.raises(pippin.ConfigError, match="distance: must be a range"):
        floating({"point": {**event, "joints": ["shoulder", "elbow"], "distance": [0.4, 0.2]}})


def test_joints_start_in_their_ranges(started):
    assert_uniform(positions(started)[:, 7], 0.5 * 0.4, 1.5 * 0.4)
    assert_uniform(velocities(started)[:, 6], 1.0, 2.0)
    assert_normal(velocities(started)[:, 7], 0.0, 0.5)


def test_starts_stay_within_the_limits_of_a_joint(started):
    elbow = positions(started)[:, 8]

    assert elbow.min() == np.float32(-0.1)
    assert elbow.max() == np.float32(0.2)


def test_the_first_start_is_drawn_as_that_of_every_episode(floating):
    simulation = floating(STARTS)
    offered = simulation.reset_counts.numpy().tolist()

    assert (positions(simulation)[:, 0] != simulation.model.joint_q.numpy().reshape(4, -1)[:, 0]).all()
    assert offered == [1, 1, 1, 1]


def test_a_root_starts_in_its_ranges_and_upright(started):
    root = positions(started)[:, :7]

    assert_uniform(root[:, 0], -0.5, 0.5)
    assert not root[:, 1:3].any()
    assert not root[:, 3:5].any()
    np.testing.assert_allclose(np.linalg.norm(root[:, 3:], axis=1), 1.0, atol=1e-6)
    assert_uniform(2.0 * np.arctan2(root[:, 5], root[:, 6]), -3.0, 3.0)
    assert_normal(velocities(started)[:, 2], 1.0, 0.1)
    assert_normal(velocities(started)[:, 5], 0.0, 0.1)


def test_numbers_of_a_world_do_not_depend_on_each_other(started):
    drawn = np.column_stack([positions(started)[:, [0, 7]], velocities(started)[:, [0, 1, 2, 6, 7]]])

    correlation = np.corrcoef(drawn.T) - np.eye(drawn.shape[1])

    assert np.abs(correlation).max() < 4 / np.sqrt(WORLDS)


def test_bodies_follow_the_drawn_joints(started):
    expected = started.model.state()
    newton.eval_fk(started.model, started.state.joint_q, started.state.joint_qd, expected)

    np.testing.assert_allclose(started.state.body_q.numpy(), expected.body_q.numpy(), atol=1e-6)


def test_a_reset_of_one_world_leaves_the_others_bits(floating):
    simulation = floating(STARTS)
    simulation.reset()
    before = positions(simulation)

    simulation.reset([1])

    assert (positions(simulation) != before).any(axis=1).tolist() == [False, True, False, False]


def test_draws_are_keyed_by_seed_and_global_world(floating):
    def run(worlds, first=0, seed=0):
        simulation = floating(STARTS, worlds=worlds, simulation={"seed": seed}, scene={"first_world": first})
        simulation.reset()
        simulation.reset()
        return positions(simulation)

    whole = run(4)

    np.testing.assert_array_equal(whole, np.concatenate([run(2), run(2, first=2)]))
    assert (whole != run(4, seed=1)).any(axis=1).all()


def test_a_new_seed_begins_the_draws_anew(floating):
    simulation = floating(STARTS)
    first = positions(simulation)
    simulation.reset()
    second = positions(simulation)

    simulation.task.reseed(np.zeros(4, dtype=int))
    simulation.reset()
    assert (second != first).any(axis=1).all()
    np.testing.assert_array_equal(positions(simulation), first)


@pytest.mark.slow
def test_a_push_adds_to_the_velocity_at_its_times(floating):
    simulation = floating({"push": {"type": "push", "period": [0.02, 0.02], "y": [0.1, 0.2]}}, worlds=100)
    speeds = []

    for _ in range(4):
        simulation.step()
        speeds.append(velocities(simulation)[:, 1])

    jumps = np.diff(speeds, axis=0, prepend=0.0)
    assert_uniform(jumps[1], 0.1, 0.2)
    assert_uniform(jumps[3], 0.1, 0.2)
    np.testing.assert_allclose(jumps[[0, 2]], 0.0, atol=1e-3)  # the arm's drives move the box a little


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        ({"type": "joints", "joints": ["knee"]}, r"events.it.joints: no joint matches 'knee'"),
        ({"type": "joints", "position": [1.0, 0.0]}, r"must be a range \[low, high\]"),
        ({"type": "joints", "velocity_std": -1.0}, "velocity_std"),
        ({"type": "joints", "when": "startup"}, "expected 'reset', got 'startup'"),
        ({"type": "root", "body": "upper"}, r"events.it.body: '.*upper' is not free; choose a body that no joint"),
        ({"type": "root", "body": ".*er"}, r"events.it.body: '.*' matches 2 bodies"),
        ({"type": "push", "x": [0.0, 1.0]}, r'period: needs when = "interval"'),
        ({"type": "push", "period": [0.0, 1.0]}, r"period: must be a range \[low, high\] above 0"),
    ],
)
def test_bad_input_is_refused_with_its_place(floating, event, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        floating({"it": event})


def test_two_events_for_one_joint_are_refused(floating):
    fault = r"events\.two\.joints: events\.one changes the initial state of '.*elbow'"

    with pytest.raises(pippin.ConfigError, match=fault):
        floating({"one": {"type": "joints"}, "two": {"type": "joints", "joints": ["elbow"]}})
