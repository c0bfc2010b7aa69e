"""Commands: velocities, the share that stands, and headings that are held."""

import numpy as np
import pippin
import pytest

VELOCITY = {"type": "velocity", "x": [-1.0, 1.0], "y": [0.1, 0.2], "yaw": [-0.5, 0.5]}


def command(simulation) -> np.ndarray:
    return simulation.task.commands["velocity"].value.numpy().copy()


def test_velocities_lie_in_their_ranges_and_a_share_stands(floating):
    simulation = floating({}, worlds=400, commands={"velocity": {**VELOCITY, "standing": 0.25}})

    values = command(simulation)

    stands = ~values.any(axis=1)
    moving = values[~stands]
    # The share of n draws has a standard error of √(p (1 - p) / n).
    assert abs(stands.mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 400)
    assert (moving >= [-1.0, 0.1, -0.5]).all()
    assert (moving <= [1.0, 0.2, 0.5]).all()
    assert abs(moving[:, 0].mean()) < 4 * 2.0 / np.sqrt(12 * len(moving))


def test_a_yaw_rate_turns_to_the_heading(floating):
    """Yaw rate = stiffness × angle, the short way round, within the range."""
    held = {**VELOCITY, "heading": [3.0, 3.0], "heading_stiffness": 0.2}
    start = {"root": {"type": "root", "yaw": [-3.0, 3.0]}}
    simulation = floating(start, worlds=50, commands={"velocity": held})

    simulation.reset()

    q = simulation.state.joint_q.numpy().reshape(50, 9)
    angle = 3.0 - 2.0 * np.arctan2(q[:, 5], q[:, 6])
    angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
    np.testing.assert_allclose(command(simulation)[:, 2], np.clip(0.2 * angle, -0.5, 0.5), atol=1e-5)
    assert (0.2 * np.abs(angle) > 0.5).any()


def test_a_command_is_drawn_anew_after_its_period(floating):
    simulation = floating({}, commands={"velocity": {**VELOCITY, "period": [0.03, 0.03]}})
    values = [command(simulation)]

    for _ in range(4):
        simulation.step()
        values.append(command(simulation))

    is_new = (np.diff(values, axis=0) != 0.0).any(axis=(1, 2))
    assert is_new.tolist() == [False, False, True, False]


def test_a_reset_draws_the_commands_of_its_worlds(floating):
    simulation = floating({}, commands={"velocity": VELOCITY})
    before = command(simulation)

    simulation.reset([2])

    assert (command(simulation) != before).any(axis=1).tolist() == [False, False, True, False]


def test_a_share_above_one_is_refused(floating):
    with pytest.raises(pippin.ConfigError, match=r"commands\.velocity\.standing"):
        floating({}, commands={"velocity": {**VELOCITY, "standing": 2.0}})
